// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/event_loop.hpp"

#include <filesystem>
#include <sys/inotify.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace pinfold {

/// Watches cgroup.events files through one inotify descriptor. Only the file cgroup.events tells reliably that a cgroup is empty.
/// The file cgroup.events changes before systemd sends the D-Bus signal UnitRemoved. systemd can send UnitRemoved more than once
/// for a unit. During a reload, systemd sends UnitRemoved even for units that continue to exist.
///
/// The kernel limits the inotify watches of each user (fs.inotify.max_user_watches), and all programs of root share root's limit.
/// If a file has no watch, CgroupWatch calls the file's handler at intervals of kLookAgain, until a watch is free. Sometimes
/// CgroupWatch calls the handler although the file is unchanged.
class CgroupWatch {
public:
    static constexpr Microseconds kLookAgain = 1s;

    /// The function has the parameters and the result of inotify_add_watch(2).
    using AddWatch = int (*)(int inotify, const char* file, std::uint32_t mask);

    explicit CgroupWatch(EventLoop& loop, AddWatch addWatch = &::inotify_add_watch);
    ~CgroupWatch();

    /// Calls `handler` after each change of the file, after the removal of the file, and sometimes without a reason. CgroupWatch
    /// can call the handler without a reason, so the handler must look at the state of the cgroup. After the call of watch(), the
    /// caller must read the state of the cgroup once. CgroupWatch does not report changes that happened before watch() was
    /// called. Fails with Internal if the file does not exist.
    Result<EventHandle> watch(const std::filesystem::path& eventsFile, std::function<void()> handler);

    /// CgroupWatch calls onExhausted when the kernel cannot create another inotify watch. The argument of onExhausted says what
    /// the administrator can do. CgroupWatch calls onExhausted again only if the kernel has granted a watch since the last call.
    std::function<void(const std::string&)> onExhausted;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace pinfold
