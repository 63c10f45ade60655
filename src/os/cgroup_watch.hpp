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
/// empty. systemd's signals come later, more than once, and during a reload also for units that live on.
///
/// The kernel limits the watches of a user (fs.inotify.max_user_watches), and all of root's programs share that limit. For a file
/// without a watch the handler is called every kLookAgain, changed or not, until a watch is free.
class CgroupWatch {
public:
    static constexpr std::uint64_t kLookAgain = 1'000'000; ///< microseconds

    using AddWatch = int (*)(int inotify, const char* file, std::uint32_t mask); ///< as inotify_add_watch(2)

    explicit CgroupWatch(EventLoop& loop, AddWatch addWatch = &::inotify_add_watch);
    ~CgroupWatch();

    /// Calls `handler` after each change of the file and when the file is removed, and sometimes without either. So the handler
    /// must look at the cgroup itself. The caller must also look once right after this call, because an earlier change is not
    /// reported. Error: Internal, because the file does not exist.
    Result<EventHandle> watch(const std::filesystem::path& eventsFile, std::function<void()> handler);

    /// Called, with the remedy, when the kernel has no more watches. It is called again only after the kernel had a watch in
    /// between.
    std::function<void(const std::string&)> onExhausted;

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace pinfold
