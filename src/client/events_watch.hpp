// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace pinfold {

/// What pinfoldd has told everybody. What a kind of event has nothing of is unset.
struct Event {
    std::string name; ///< "job-added", "task-removed", "drained", ...
    std::optional<std::string> job = {};
    std::optional<std::uint32_t> task = {};
    std::optional<std::uint32_t> count = {};  ///< of processes
    std::optional<std::string> result = {};   ///< of a job that is over
    std::optional<std::string> oomCause = {}; ///< of a kill because memory ran out
    std::optional<std::string> reason = {};   ///< of a drain
};

/// pinfoldd's signals, on a connection of its own. What happens while pinfoldd is away is not heard; that it is away is.
class EventsWatch {
public:
    /// The system bus. Error: Unreachable.
    static Result<EventsWatch> connect();
    EventsWatch(EventsWatch&&) noexcept;
    EventsWatch& operator=(EventsWatch&&) noexcept;
    ~EventsWatch();

    /// Calls `heard` for each one that comes, until it returns false. Error: Unreachable, the bus has gone.
    Result<void> listen(std::function<bool(const Event&)> heard);

private:
    struct Impl;
    explicit EventsWatch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
