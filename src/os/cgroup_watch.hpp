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

/// Tells changes of cgroup.events files through one inotify descriptor. cgroup.events is the earliest and only true word on
/// whether a cgroup is empty: systemd's signals come later, more than once, and during a reload for units that live on.
///
/// The kernel limits the watches of a user (fs.inotify.max_user_watches), and all of root's programs share that limit. A file for
/// which there is none is told of every kLookAgain instead, changed or not, until a watch is to be had.
class CgroupWatch {
public:
    static constexpr std::uint64_t kLookAgain = 1'000'000; ///< microseconds

    using AddWatch = int (*)(int inotify, const char* file, std::uint32_t mask); ///< as inotify_add_watch(2)

    explicit CgroupWatch(EventLoop& loop, AddWatch addWatch = &::inotify_add_watch);
    ~CgroupWatch();

    /// Calls `handler` after each change of the file, and when it is removed; it may be called without either. Look at the cgroup
    /// itself then, and once right after this call: a change before it is not told. Error: Internal, there is no such file.
    Result<EventHandle> watch(const std::filesystem::path& eventsFile, std::function<void()> handler);

    /// Called when the kernel has no more watches, with the remedy; not again until it had one.
    std::function<void(const std::string&)> onExhausted;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace pinfold
