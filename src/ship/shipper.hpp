// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "bus_client/events_watch.hpp"
#include "ship/progress.hpp"
#include "ship/schedule.hpp"
#include "ship/shipment.hpp"

#include <functional>
#include <optional>
#include <string>

namespace pinfold {

/// Reacts to the events of pinfoldd, and sends a Lot at each time that Schedule chooses. Shipper itself never waits. The caller
/// of Shipper calls next() and waits until the returned time.
class Shipper {
public:
    /// After the first event, Shipper collects further events for the time kLook. After the time kLook, Shipper asks pinfoldd
    /// whether one of the new receipts belongs to a failed job.
    static constexpr Microseconds kLook = 1s;

    struct Parts {
        Shipment& shipment;
        Schedule& schedule;
        Progress& progress;
        std::function<void(const Progress::Line&)> log;
        std::function<void()> changed; ///< Shipper calls `changed` when the status and the metrics have possibly changed
        std::function<BootTime()> bootTime;
        std::function<RealTime()> realTime;
    };
    explicit Shipper(Parts parts) : parts_(std::move(parts)) {}

    void heard(const Event& event);
    /// Call busLost() when the connection to the bus was lost, or when an attempt to connect to the bus failed. After a call of
    /// busLost(), Shipper can miss events of pinfoldd.
    void busLost(const Error& error);
    /// Call busFound() when the connection to the bus works.
    void busFound();
    /// turn() does all work whose time has come, such as sending receipts.
    void turn();
    /// Returns the next time at which turn() has work to do.
    BootTime next() const;

private:
    void note(const Shipment::Step& step);

    Parts parts_;
    std::optional<BootTime> look_;
    bool hearing_ = false; ///< true while pinfold-ship gets the events of pinfoldd
};

} // namespace pinfold
