// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "ship/archive_view.hpp"
#include "ship/shipment.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Remembers whether receipts reach the archive. The class Progress informs administrators through the journal, the status and
/// the metrics. Progress writes one line to the journal when a problem begins, and one line when the problem is over. While a
/// problem lasts, failed attempts to send receipts add no line to the journal.
class Progress {
public:
    struct Line {
        bool trouble; ///< the line is a warning
        std::string text;
    };

    /// Remembers how the newest step of Shipment ended. Returns a line for the journal, or nullopt if nothing has changed.
    std::optional<Line> note(const Shipment::Step& step, std::uint64_t unsent, RealTime now);

    /// Returns the line of `systemctl status` that says how many receipts wait, and why.
    std::string status(std::uint64_t unsent) const;

    /// Returns the metrics in Prometheus' text format. `expires` is the time at which the node's certificate expires, and is
    /// unset if this time is not known. `view` is unset until the archive has answered.
    std::string metrics(std::uint64_t unsent, std::optional<RealTime> expires, const std::optional<ArchiveView>& view) const;

private:
    std::optional<Shipment::Failure> failure_;
    std::optional<RealTime> since_;       ///< the time at which the present failure to send receipts began
    std::optional<RealTime> lastSuccess_; ///< the time at which the archive last accepted a Lot
    std::uint64_t sent_ = 0;
    std::uint64_t failures_ = 0;
};

} // namespace pinfold
