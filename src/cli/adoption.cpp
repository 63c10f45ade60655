// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/adoption.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/format.hpp"
#include "model/job_key.hpp"
#include "os/process.hpp"
#include "socket_client/daemon_link.hpp"

#include <fmt/core.h>

#include <sys/types.h>

#include <algorithm>

namespace pinfold {
namespace {

constexpr Microseconds kAnswerTime = 30s; // equal to the time limit of a call on the bus

Result<std::vector<UniqueFd>> openAll(const std::vector<std::string>& pids) {
    std::vector<UniqueFd> processes;
    for (const auto& text : pids) {
        const auto pid = parseUnsigned(text);
        if (!pid || *pid < 2 || *pid > INT32_MAX)
            return Error{ErrorCode::InvalidArgument,
                         fmt::format("'{}' is not a process id: use a number from 2 to 2147483647", printable(text, 50))};
        auto process = openPidfd(static_cast<pid_t>(*pid));
        if (!process)
            return process.error();
        processes.push_back(std::move(*process));
    }
    return processes;
}

/// Checks that the process of each pidfd belongs to `owner`. If the process that the user meant has ended, a new process can have
/// the same id.
Result<void> checkOwner(const std::vector<UniqueFd>& processes, uid_t owner) {
    const ProcessTable table;
    for (const auto& process : processes) {
        const auto pid = table.pidOf(process.get());
        const auto info = pid ? table.read(*pid) : pid.error();
        if (!info)
            return info.error();
        if (hasEnded(process.get())) // if the process has ended, `info` possibly describes a new process with the same id
            return Error{ErrorCode::PidGone, fmt::format("process {} has ended", *pid)};
        if (info->realUid != owner)
            return Error{ErrorCode::Denied,
                         fmt::format("process {} belongs to user {}, not to user {} (--owner)", *pid, info->realUid, owner)};
    }
    return {};
}

Result<AddedTask> answerOf(DaemonLink& link) {
    const auto answer = link.wait({.untilAnswered = kAnswerTime});
    const auto key = answer ? JobKey::parse(answer->key) : answer.error();
    if (!key)
        return key.error();
    const auto task = answer->task.value_or(0);
    return AddedTask(task, key->scopeName(task));
}

} // namespace

Result<std::vector<UniqueFd>> openProcesses(const std::vector<std::string>& pids, const std::optional<std::string>& owner) {
    auto processes = openAll(pids);
    if (!processes || !owner)
        return processes;
    const auto uid = userId(*owner);
    const auto theirs = uid ? checkOwner(*processes, *uid) : uid.error();
    if (!theirs)
        return theirs.error();
    return processes;
}

std::vector<UniqueFd> outsideOf(const std::string& slice, std::vector<UniqueFd> processes) {
    const ProcessTable table;
    // outsideOf() compares whole cgroup paths, beginning at the root. A user can give any name to a cgroup below the user's own
    // cgroups.
    const auto inside = "/" + std::string(kBatchSlice) + "/" + slice + "/";
    std::erase_if(processes, [&](const UniqueFd& process) {
        const auto pid = table.pidOf(process.get());
        const auto cgroup = pid ? table.cgroupOf(*pid) : pid.error();
        return cgroup ? cgroup->starts_with(inside) : cgroup.error().code == ErrorCode::PidGone;
    });
    return processes;
}

Result<AddedTask> adoptAtSocket(const std::string& key, uid_t owner, const UniqueFd& process) {
    DaemonLink link;
    link.adopt({key, owner}, process.get(), kAnswerTime);
    return answerOf(link);
}

Result<AddedTask> addBatchScriptAtSocket(const std::string& key, const UniqueFd& process) {
    DaemonLink link;
    link.create({.key = key, .limits = {}, .role = WrapperRole::Batch}, {.leader = process.get()});
    return answerOf(link);
}

} // namespace pinfold
