// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/event_loop.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <memory>

namespace pinfold {

/// Tells changes of cgroup.events files through one inotify descriptor. cgroup.events is the earliest and only true word on
/// whether a cgroup is empty: systemd's signals come later, more than once, and during a reload for units that live on.
class CgroupWatch {
public:
    explicit CgroupWatch(EventLoop& loop);
    ~CgroupWatch();

    /// Calls `handler` after each change of the file, and when it is removed. Look at the cgroup itself then, and once right
    /// after this call: a change before it is not told. Error: Internal.
    Result<EventHandle> watch(const std::filesystem::path& eventsFile, std::function<void()> handler);

private:
    struct Impl;
    std::shared_ptr<Impl> impl_;
};

} // namespace pinfold
