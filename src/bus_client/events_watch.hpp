// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace pinfold {

/// Holds the contents of one signal of pinfoldd. Members that a kind of event does not have are unset.
struct Event {
    std::string name; ///< for example "job-added", "task-removed", "drained"
    std::optional<std::string> job = {};
    std::optional<std::uint32_t> task = {};
    std::optional<std::uint32_t> count = {};  ///< number of processes
    std::optional<std::string> result = {};   ///< the result of a job that is over
    std::optional<std::string> oomCause = {}; ///< the cause of a kill because memory ran out
    std::optional<std::string> reason = {};   ///< the reason of a drain
};

/// Listens to pinfoldd's signals on its own connection to the bus. While pinfoldd does not run, EventsWatch reports only that
/// pinfoldd is away, and reports no events of jobs.
class EventsWatch {
public:
    /// Connects to the system bus. Error: Unreachable.
    static Result<EventsWatch> connect();
    EventsWatch(EventsWatch&&) noexcept;
    EventsWatch& operator=(EventsWatch&&) noexcept;
    ~EventsWatch();

    /// Calls `heard` for each event that comes, until `heard` returns false. Error: Unreachable if the connection to the bus is
    /// lost.
    Result<void> listen(std::function<bool(const Event&)> heard);

private:
    struct Impl;
    explicit EventsWatch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
