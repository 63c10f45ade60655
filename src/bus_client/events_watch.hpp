// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

inline constexpr const char* kReceiptsStored = "receipts-stored"; ///< the name of an event

/// Holds the arguments of the signal ReceiptsStored. With ReceiptsStored, pinfoldd says which receipts are now stored.
struct StoredEvent {
    std::string epoch;
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

/// Holds the contents of one D-Bus signal from pinfoldd. If a kind of event has no value for a member, the member is unset.
struct Event {
    std::string name; ///< the kind of event, for example "job-added", "task-removed", "drained"
    std::optional<std::string> job = {};
    std::optional<std::uint32_t> task = {};
    std::optional<std::uint32_t> count = {};  ///< the number of leftovers, or the number of processes that cannot be killed
    std::optional<std::string> result = {};   ///< the result of a job that is over
    std::optional<std::string> oomCause = {}; ///< the cause of an out-of-memory kill
    std::optional<std::string> limit = {};    ///< the name of the limit that the job has almost reached
    std::optional<std::string> reason = {};   ///< the reason of a drain
    std::optional<StoredEvent> stored = {};
};

/// Listens to pinfoldd's signals. Each EventsWatch has a connection of its own to the bus. When pinfoldd stops, EventsWatch
/// reports that pinfoldd is away. While pinfoldd does not run, EventsWatch reports no events of jobs.
class EventsWatch {
public:
    /// Connects to the system bus. Error: Unreachable.
    static Result<EventsWatch> connect();
    EventsWatch(EventsWatch&&) noexcept;
    EventsWatch& operator=(EventsWatch&&) noexcept;
    ~EventsWatch();

    /// Returns the events that EventsWatch has received since the last call of wait(). If no event has come, wait() waits for an
    /// event, but not longer than the time `atMost`. Fails with Unreachable if the connection to the bus is lost.
    Result<std::vector<Event>> wait(Microseconds atMost);
    /// Calls `heard` for each event that comes, until `heard` returns false. Fails with Unreachable if the connection to the bus
    /// is lost.
    Result<void> listen(std::function<bool(const Event&)> heard);

private:
    struct Impl;
    explicit EventsWatch(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
