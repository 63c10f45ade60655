// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/progress.hpp"

#include "base/escape.hpp"
#include "model/exposition.hpp"

#include <fmt/chrono.h>
#include <fmt/core.h>

#include <ctime>

namespace pinfold {
namespace {

std::string waiting(std::uint64_t unsent) {
    if (unsent == 0)
        return "all receipts are in the archive";
    return fmt::format("{} {} to send", unsent, unsent == 1 ? "receipt" : "receipts");
}

std::string timeText(RealTime time) {
    return fmt::format("{:%Y-%m-%d %H:%M}", fmt::localtime(static_cast<std::time_t>(time.time_since_epoch() / 1s)));
}

/// Returns the failure's message in printable form. The message can contain control characters, because a library or the server
/// wrote the message.
std::string reason(const Shipment::Failure& failure) { return printable(failure.error.message, 500); }

bool sameKind(const Shipment::Failure& a, const Shipment::Failure& b) {
    const auto isSilent = [](const Shipment::Failure& failure) {
        return failure.error.code == ErrorCode::Unreachable || failure.error.code == ErrorCode::TimedOut;
    };
    return a.side == b.side && (a.error.code == b.error.code || (isSilent(a) && isSilent(b)));
}

} // namespace

std::optional<Progress::Line> Progress::note(const Shipment::Step& step, std::uint64_t unsent, RealTime now) {
    sent_ += step.receipts;
    if (!step.failure) {
        lastSuccess_ = now;
        if (!failure_)
            return std::nullopt;
        failure_.reset();
        const auto since = *std::exchange(since_, std::nullopt);
        return Line{false, fmt::format("receipts reach the archive again, after a failure since {}; {}", timeText(since),
                                       waiting(unsent))};
    }
    ++failures_;
    const bool known = failure_ && sameKind(*failure_, *step.failure);
    failure_ = step.failure;
    if (!since_)
        since_ = now;
    if (known)
        return std::nullopt;
    return Line{true, fmt::format("receipts do not reach the archive: {}; pinfoldd keeps them, and pinfold-ship tries again",
                                  reason(*failure_))};
}

std::string Progress::status(std::uint64_t unsent) const {
    if (!failure_ || !since_)
        return waiting(unsent);
    const auto silent =
        failure_->side == Shipment::Side::Node ? "pinfoldd does not give its receipts" : "the archive does not take receipts";
    return fmt::format("{}{} since {}: {}", unsent == 0 ? "" : waiting(unsent) + "; ", silent, timeText(*since_),
                       reason(*failure_));
}

std::string Progress::metrics(std::uint64_t unsent, std::optional<RealTime> expires,
                              const std::optional<ArchiveView>& view) const {
    const auto seconds = [](RealTime time) { return static_cast<std::uint64_t>(time.time_since_epoch() / 1s); };
    Exposition out;
    out.metric("pinfold_ship_failing", "gauge", "1 while receipts do not reach the archive, else 0.");
    out.sample({}, failure_ ? 1 : 0);
    out.metric("pinfold_ship_unsent", "gauge", "Receipts that are not in the archive yet, as far as pinfold-ship knows.");
    out.sample({}, unsent);
    out.metric("pinfold_ship_receipts_total", "counter",
               "Receipts that the archive has taken, including receipts that pinfold-ship sent more than once.");
    out.sample({}, sent_);
    out.metric("pinfold_ship_failures_total", "counter", "Failed attempts to send receipts.");
    out.sample({}, failures_);
    if (lastSuccess_) {
        out.metric("pinfold_ship_last_success_seconds", "gauge",
                   "When the archive last accepted receipts or a sign of life, in seconds since 1970.");
        out.sample({}, seconds(*lastSuccess_));
    }
    if (expires) {
        out.metric("pinfold_ship_certificate_expires_seconds", "gauge",
                   "When the certificate of this node expires, in seconds since 1970.");
        out.sample({}, seconds(*expires));
    }
    if (view) {
        out.metric("pinfold_ship_missing", "gauge",
                   "Receipts of this node that the archive can never get, as the archive's last answer says.");
        out.sample({}, view->missing);
        out.metric(
            "pinfold_ship_clock_offset_seconds", "gauge",
            "The node's clock is ahead of the archive's clock by at least this time; negative if the node's clock is behind.");
        out.signedSeconds({}, view->clockOffset);
    }
    return out.text();
}

} // namespace pinfold
