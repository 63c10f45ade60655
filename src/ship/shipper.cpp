// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/shipper.hpp"

#include <algorithm>

namespace pinfold {

void Shipper::heard(const Event& event) {
    const auto now = parts_.bootTime();
    if (event.stored) {
        parts_.shipment.stored(event.stored->epoch, event.stored->last);
        parts_.schedule.waiting(now);
        if (parts_.shipment.unsent() >= Lot::kMostReceipts)
            parts_.schedule.urgent(now);
        else if (!look_)
            look_ = now + kLook;
    } else if (event.name == "receipt-amended" && event.job) {
        parts_.shipment.amended(*event.job);
        parts_.schedule.waiting(now);
    } else if (event.name == "daemon-started") {
        parts_.shipment.relocate();
        parts_.schedule.retry(now);
    }
}

void Shipper::busFound() { hearing_ = true; }

void Shipper::busLost(const Error& error) {
    if (hearing_)
        parts_.shipment.resendRecent();
    hearing_ = false;
    look_.reset();
    parts_.schedule.failed(parts_.bootTime(), Schedule::kMostLocalRetry);
    note({.failure = Shipment::Failure{Shipment::Side::Node, error}});
}

void Shipper::turn() {
    if (look_ && parts_.bootTime() >= *look_) {
        look_.reset();
        if (parts_.shipment.hasFailedJob())
            parts_.schedule.urgent(parts_.bootTime());
        parts_.changed();
    }
    if (!parts_.schedule.due(parts_.bootTime()))
        return;
    look_.reset();
    const auto step = parts_.shipment.step();
    const auto now = parts_.bootTime(); // step() can take a minute, so an earlier reading of the clock is too old
    if (step.failure)
        parts_.schedule.failed(now,
                               step.failure->side == Shipment::Side::Node ? Schedule::kMostLocalRetry : Schedule::kMostRetry);
    else if (step.more && step.receipts == 0)
        // The archive got no new receipts, because the epoch or the position was wrong. As long as no step sends receipts, the
        // pauses between the steps get longer.
        parts_.schedule.failed(now);
    else
        parts_.schedule.succeeded(now, step.more);
    note(step);
}

BootTime Shipper::next() const { return look_ ? std::min(*look_, parts_.schedule.next()) : parts_.schedule.next(); }

void Shipper::note(const Shipment::Step& step) {
    if (const auto line = parts_.progress.note(step, parts_.shipment.unsent(), parts_.realTime()))
        parts_.log(*line);
    parts_.changed();
}

} // namespace pinfold
