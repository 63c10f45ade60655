// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/torque/credentials.hpp"

#include "adapters/torque/command.hpp"
#include "base/deadline.hpp"
#include "base/parse.hpp"
#include "base/unique_fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <memory>

namespace pinfold::torque {
namespace {

constexpr off_t kMaxJobFile = 4 << 20;
// pbs_mom writes the job's file only after the start of the batch script. On an idle node, pbs_mom writes the job's file within
// some milliseconds.
constexpr Microseconds kFilePatience = 10s;

Error denied(const std::string& why) {
    return {ErrorCode::Denied, why + "; with $job_starter_run_privileged false, this check does not apply"};
}

Error failed(const char* call) {
    return denied(std::string("cannot become the job's user: ") + call + ": " + std::strerror(errno));
}

/// The working directory of pbs_mom is the directory mom_priv. A child of pbs_mom has the working directory of pbs_mom until the
/// child becomes a user's process.
std::string jobsDirectory() { return "/proc/" + std::to_string(::getppid()) + "/cwd/jobs"; }

std::string readJobFile(int directory, const char* name) {
    const UniqueFd file(::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat status {};
    // pinfold accepts only job files that belong to root. Some sites let users write to pbs_mom's directory of job files
    // ($jobdirectory_sticky).
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != 0 ||
        (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 || status.st_size > kMaxJobFile)
        return {};
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    return ::read(file.get(), text.data(), text.size()) == status.st_size ? text : std::string();
}

std::optional<Identity> search(const std::string& path, std::string_view cookie) {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), &::closedir);
    if (!directory)
        return std::nullopt;
    while (const dirent* entry = ::readdir(directory.get())) {
        if (!std::string_view(entry->d_name).ends_with(".JB"))
            continue;
        if (auto found = identity(readJobFile(::dirfd(directory.get()), entry->d_name), cookie))
            return found;
    }
    return std::nullopt;
}

/// Returns the user's groups from the name service. A separate process asks the name service. If the job starter itself asked the
/// name service, the job starter would load libraries from the user's LD_LIBRARY_PATH.
Result<std::vector<gid_t>> groupsOf(uid_t uid) {
    auto asked = runAlone("/usr/bin/id", {"-G", "+" + std::to_string(uid)}, Printed::Output);
    if (!asked.printed.empty() && asked.printed.back() == '\n')
        asked.printed.pop_back();
    std::vector<gid_t> groups;
    for (std::string_view rest = asked.printed; asked.status == 0 && !rest.empty();) {
        const auto end = rest.find(' ');
        const auto group = parseUnsigned(rest.substr(0, end));
        if (!group || *group >= UINT32_MAX)
            return denied("/usr/bin/id did not print numbers");
        groups.push_back(static_cast<gid_t>(*group));
        rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    if (groups.empty())
        return denied("the groups of user " + std::to_string(uid) + " are unknown: /usr/bin/id failed");
    return groups;
}

bool isNow(uid_t uid, gid_t gid) {
    std::array<uid_t, 3> users{};
    std::array<gid_t, 3> groups{};
    return ::getresuid(&users[0], &users[1], &users[2]) == 0 && ::getresgid(&groups[0], &groups[1], &groups[2]) == 0 &&
           users == std::array{uid, uid, uid} && groups == std::array{gid, gid, gid};
}

/// pbs_mom entered the working directory as root. enterAgain() enters the same directory once more, with the user's rights.
/// Without enterAgain(), the process could open files in the working directory even if a parent directory is closed to the user.
Result<void> enterAgain() {
    std::array<char, PATH_MAX> path{};
    if (!::getcwd(path.data(), path.size()) || ::chdir(path.data()) != 0)
        return denied(std::string("the user cannot enter the job's working directory: ") + std::strerror(errno));
    return {};
}

} // namespace

Result<Identity> identify(std::string_view cookie) {
    if (!isCookie(cookie))
        return denied("PBS_JOBCOOKIE is not a cookie of pbs_mom");
    const auto path = jobsDirectory();
    const UniqueFd changes(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    if (!changes || ::inotify_add_watch(changes.get(), path.c_str(), IN_CLOSE_WRITE | IN_CREATE | IN_MOVED_TO) < 0)
        return denied("started as root, but not by a pbs_mom: " + path + ": " + std::strerror(errno));
    const Deadline written(kFilePatience);
    for (;;) {
        if (auto found = search(path, cookie))
            return *std::move(found);
        pollfd change{changes.get(), POLLIN, 0};
        if (::poll(&change, 1, written.remainingMs()) <= 0 && written.passed())
            return denied("no job file of pbs_mom contains this job's cookie");
        std::array<char, 4096> events{};
        (void)!::read(changes.get(), events.data(), events.size());
    }
}

Result<void> become(const Identity& identity) {
    const auto groups = groupsOf(identity.uid);
    if (!groups)
        return groups.error();
    if (::setgroups(groups->size(), groups->data()) != 0)
        return failed("setgroups");
    if (::setresgid(identity.gid, identity.gid, identity.gid) != 0)
        return failed("setresgid");
    if (::setresuid(identity.uid, identity.uid, identity.uid) != 0 || !isNow(identity.uid, identity.gid))
        return failed("setresuid");
    return enterAgain();
}

} // namespace pinfold::torque
