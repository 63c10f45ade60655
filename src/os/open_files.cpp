// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/open_files.hpp"

#include "os/file_error.hpp"
#include "os/memory_maps.hpp"
#include "os/process.hpp"
#include "os/read_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {
namespace {

constexpr std::size_t kMostMaps = 256 << 20;

/// Returns true if errno says that the process or thread has ended. Processes end at any time, so the end of a process is not an
/// error.
bool hasGone() { return errno == ENOENT || errno == ESRCH; }

/// Lists the entries of the directory, and returns the names that consist only of digits. A directory that no longer exists
/// counts as empty.
Result<std::vector<std::string>> numbersIn(const std::filesystem::path& directory) {
    std::vector<std::string> numbers;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
        if (auto name = entry->path().filename().string(); name.find_first_not_of("0123456789") == std::string::npos)
            numbers.push_back(std::move(name));
    if (error && error.value() != ENOENT && error.value() != ESRCH)
        return Error{ErrorCode::Internal, directory.string() + ": " + error.message()};
    return numbers;
}

Result<std::vector<std::string>> processes(const std::filesystem::path& proc) {
    auto pids = numbersIn(proc);
    // The mount option hidepid= hides other users' processes from a program without special rights. If hidepid= hides any
    // process, it also hides PID 1.
    if (pids && std::find(pids->begin(), pids->end(), "1") == pids->end())
        return Error{ErrorCode::Internal, proc.string() + " does not show all processes (hidepid=?): run as root"};
    return pids;
}

using Devices = std::shared_ptr<const std::set<std::uint64_t>>; // a shared set, because several threads use it

class Search {
public:
    explicit Search(Devices devices) : devices_(std::move(devices)) {}

    /// Adds to `found` the files that a process or thread uses. `process` is /proc/PID or /proc/PID/task/TID.
    Result<void> lookInto(const std::filesystem::path& process) {
        for (const char* link : {"cwd", "root"})
            if (auto followed = follow(process / link); !followed)
                return followed;
        const auto descriptors = numbersIn(process / "fd");
        if (!descriptors)
            return descriptors.error();
        for (const auto& number : *descriptors)
            if (auto followed = follow(process / "fd" / number); !followed)
                return followed;
        return addMaps(process / "maps");
    }

    std::set<FileId> found;

private:
    /// Follows a link in /proc, and adds its target to `found`. The first statx() of a file requests no attributes, so the kernel
    /// asks no file server. If the first statx() requested attributes of a file on a FUSE mount, the call could fail or hang.
    /// follow() calls statx() a second time only if the file is on one of the given devices.
    Result<void> follow(const std::filesystem::path& link) {
        struct statx status {};
        constexpr int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
        if (::statx(AT_FDCWD, link.c_str(), flags, 0, &status) != 0)
            return hasGone() ? Result<void>() : fileError(link);
        const auto device = std::uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor;
        if (!devices_->contains(device))
            return {};
        if (::statx(AT_FDCWD, link.c_str(), flags, STATX_INO, &status) != 0)
            return hasGone() ? Result<void>() : fileError(link);
        found.insert({std::uint64_t{status.stx_dev_major} << 32 | status.stx_dev_minor, status.stx_ino});
        return {};
    }

    Result<void> addMaps(const std::filesystem::path& file) {
        const auto text = readFile(AT_FDCWD, file.c_str(), kMostMaps);
        if (!text)
            return hasGone() ? Result<void>() : fileError(file);
        if (text->size() >= kMostMaps)
            return Error{ErrorCode::Internal, file.string() + " is longer than " + std::to_string(kMostMaps) + " bytes"};
        auto files = mappedFiles(*text, *devices_);
        if (!files)
            return Error{ErrorCode::Internal, file.string() + " does not have the form that proc(5) describes"};
        found.merge(*files);
        return {};
    }

    Devices devices_;
};

/// After the end of a process's first thread, /proc/PID shows no descriptors and no maps. The remaining threads of the process
/// can still use files after the end of the first thread.
bool firstThreadHasEnded(const std::filesystem::path& process) {
    const auto stat = readFile(AT_FDCWD, (process / "stat").c_str());
    const auto nameEnd = stat ? stat->rfind(')') : std::string::npos;
    return nameEnd != std::string::npos && stat->size() > nameEnd + 2 && (*stat)[nameEnd + 2] == 'Z';
}

/// Finds the files that the process uses. If the first thread of the process has ended, lookInto() looks into all threads of the
/// process.
Result<std::set<FileId>> lookInto(const Devices& devices, const std::filesystem::path& process) {
    Search search(devices);
    if (auto looked = search.lookInto(process); !looked)
        return looked.error();
    if (!firstThreadHasEnded(process))
        return std::move(search.found);
    const auto threads = numbersIn(process / "task");
    if (!threads)
        return threads.error();
    for (const auto& thread : *threads)
        if (auto looked = search.lookInto(process / "task" / thread); !looked)
            return looked.error();
    return std::move(search.found);
}

/// Returns the real, effective and saved user id of a process. All three ids in the result are 0 if the process has a user id of
/// 0, or if table.read() fails. In a user namespace of their own, users can run a process whose real, effective and saved user
/// ids all differ.
std::array<uid_t, 3> usersOf(const ProcessTable& table, pid_t pid) {
    const auto info = table.read(pid);
    if (!info || info->realUid == 0 || info->effectiveUid == 0 || info->savedUid == 0)
        return {};
    return {info->realUid, info->effectiveUid, info->savedUid};
}

} // namespace

Result<Inhabitants> listInhabitants(const std::filesystem::path& root) {
    const auto names = processes(root / "proc");
    if (!names)
        return names.error();
    const ProcessTable table(root);
    Inhabitants inhabitants;
    for (const auto& name : *names) {
        const auto info = table.read(static_cast<pid_t>(std::stol(name)));
        if (!info && info.error().code == ErrorCode::PidGone)
            continue;
        if (!info)
            return info.error();
        inhabitants.pids.insert(info->pid);
        inhabitants.users.insert({info->realUid, info->effectiveUid, info->savedUid});
    }
    return inhabitants;
}

Result<FilesInUse> filesInUse(const std::set<std::uint64_t>& devices, ProcessLooks& looks, const std::filesystem::path& root) {
    const auto names = processes(root / "proc");
    if (!names)
        return names.error();
    const ProcessTable table(root);
    const auto shared = std::make_shared<const std::set<std::uint64_t>>(devices);
    FilesInUse inUse;
    for (const auto& name : *names) {
        const auto pid = static_cast<pid_t>(std::stol(name));
        // The user ids of a process cannot be read after its end, so filesInUse() reads the user ids before the files.
        const auto users = usersOf(table, pid);
        auto used =
            looks.into(pid, users.front(), [shared, process = root / "proc" / name] { return lookInto(shared, process); });
        if (used)
            inUse.files.merge(*used);
        else
            for (const auto user : users)
                inUse.unseen.emplace(user, used.error().message);
    }
    return inUse;
}

} // namespace pinfold
