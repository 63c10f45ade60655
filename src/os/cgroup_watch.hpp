// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

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

/// Watches cgroup.events files through one inotify descriptor. Only cgroup.events says reliably, and first, whether a cgroup is
/// empty. systemd's signals come later and more than once, and during a reload they come also for units that live on.
///
/// The kernel limits the watches of a user (fs.inotify.max_user_watches), and all of root's programs share that limit. If a file
/// has no watch, CgroupWatch calls its handler every kLookAgain, even without a change, until a watch is free.
class CgroupWatch {
public:
    static constexpr std::uint64_t kLookAgain = 1'000'000; ///< in microseconds

    using AddWatch = int (*)(int inotify, const char* file, std::uint32_t mask); ///< has the type of inotify_add_watch(2)

    explicit CgroupWatch(EventLoop& loop, AddWatch addWatch = &::inotify_add_watch);
    ~CgroupWatch();

    /// Calls `handler` after each change of the file, after the removal of the file, and sometimes without a reason. So the
    /// handler must look at the cgroup itself. The caller must also look at the cgroup right after watch(), because CgroupWatch
    /// does not report an earlier change. Error: Internal if the file does not exist.
    Result<EventHandle> watch(const std::filesystem::path& eventsFile, std::function<void()> handler);

    /// CgroupWatch calls onExhausted, with the remedy, when the kernel has no more watches. Before the next call the kernel must
    /// have had a watch again.
    std::function<void(const std::string&)> onExhausted;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace pinfold
