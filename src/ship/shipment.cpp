// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/shipment.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace pinfold {

void Shipment::stored(const std::string& epoch, std::uint64_t last) {
    if (epoch_.empty()) // the receipts are the first ones of the node
        changeEpoch(epoch);
    if (epoch == epoch_)
        newest_ = std::max(newest_, last);
}

void Shipment::amended(const std::string& key) {
    if (amended_.size() < kMostAmended)
        amended_.insert(key);
    else
        resendRecent();
}

void Shipment::resendRecent() {
    recentSent_ = false;
    amended_.clear();
}

Shipment::Step Shipment::step() {
    taken_ = 0;
    auto more = advance();
    failing_ = !more;
    if (more)
        return {.receipts = taken_, .more = *more};
    located_ = false;
    return {.failure = Failure{asked_, more.error()}, .receipts = taken_};
}

Result<bool> Shipment::advance() {
    if (auto located = locate(); !located)
        return located.error();
    if (epoch_.empty()) // the node has never had a receipt
        return false;
    if (auto sent = sendRecentAgain(); !sent)
        return sent.error();
    if (auto sent = sendAmended(); !sent)
        return sent.error();
    return sendNext();
}

Result<void> Shipment::locate() {
    if (located_)
        return {};
    asked_ = Side::Node;
    const auto newest = node_.list({.limit = 1});
    if (!newest)
        return newest.error();
    newest_ = 0;
    if (!newest->empty() && newest->front().epoch && newest->front().sequence) {
        if (*newest->front().epoch != epoch_)
            changeEpoch(*newest->front().epoch);
        newest_ = *newest->front().sequence;
    }
    // Even if the node has never had a receipt, Shipment asks the archive. If the archive is unreachable or refuses the node's
    // certificate, administrators should notice it before the node runs its first job.
    asked_ = Side::Archive;
    const auto position = archive_.position(epoch_);
    if (!position)
        return position.error();
    if (epoch_.empty())
        return {};
    located_ = true;
    // If somebody has restored an older copy of the history, the archive's position can be above all sequences of the node. After
    // somebody has restored an older history, new receipts get sequences that the archive already has. Shipment must send the new
    // receipts, even if the archive already has receipts with higher sequences.
    arrived(newest->empty() ? *position : std::min(*position, newest_));
    return {};
}

/// Reports that change a receipt are rare, and usually come a few seconds after the job's end. If pinfold-ship has missed the
/// change of a receipt, the receipt is most probably one of the newest receipts.
Result<void> Shipment::sendRecentAgain() {
    if (recentSent_)
        return {};
    const auto count = std::min<std::uint64_t>(kResent, limit_);
    auto from = cursor_ - std::min(cursor_, count);
    const auto receipts = listAfter(from, limit_, Profiles::Without); // a report changes no profile
    if (!receipts)
        return receipts.error();
    std::vector<Receipt> recent;
    for (const auto& receipt : *receipts)
        if (receipt.sequence && *receipt.sequence <= cursor_)
            recent.push_back(receipt);
    while (!recent.empty()) {
        const auto lot = makeLot(recent, epoch_, from + 1);
        if (lot.receipts.empty())
            break;
        if (auto position = put(lot); !position)
            return position.error();
        recent.erase(recent.begin(), recent.begin() + static_cast<std::ptrdiff_t>(lot.receipts.size()));
        from = lot.last;
    }
    recentSent_ = true;
    return {};
}

Result<void> Shipment::sendAmended() {
    while (!amended_.empty()) {
        asked_ = Side::Node;
        const auto receipts = node_.list({.key = *amended_.begin(), .limit = kReceiptsOfKey});
        if (!receipts)
            return receipts.error();
        for (const auto& receipt : *receipts) {
            if (!receipt.sequence || *receipt.sequence > cursor_) // a later Lot will contain this receipt
                continue;
            const auto lot = makeLot({receipt}, epoch_, *receipt.sequence);
            if (lot.receipts.empty())
                continue;
            if (auto position = put(lot); !position)
                return position.error();
        }
        amended_.erase(amended_.begin());
    }
    return {};
}

Result<bool> Shipment::sendNext() {
    const auto receipts = listAfter(cursor_, limit_, Profiles::With);
    if (!receipts)
        return receipts.error();
    if (!receipts->empty() && receipts->front().epoch && *receipts->front().epoch != epoch_) {
        changeEpoch(*receipts->front().epoch);
        return true;
    }
    const auto lot = makeLot(*receipts, epoch_, cursor_ + 1);
    if (!receipts->empty() && lot.receipts.empty())
        return Error{ErrorCode::Internal, "pinfoldd has sent receipts without sequence numbers, or in the wrong order"};
    newest_ = std::max(newest_, lot.last);
    const auto position = put(lot);
    if (!position && position.error().code == ErrorCode::InvalidArgument && !std::exchange(behind_, true)) {
        located_ = false;
        return true;
    }
    if (!position)
        return position.error();
    if (*position < lot.last)
        return Error{
            ErrorCode::Internal,
            fmt::format("the archive has accepted receipts up to number {}, but says that it has receipts only up to number {}",
                        lot.last, *position)};
    behind_ = false;
    const bool more = receipts->size() > lot.receipts.size() || unsent() > lot.receipts.size();
    if (lot.last > cursor_)
        arrived(lot.last);
    return more && !lot.receipts.empty();
}

Result<std::uint64_t> Shipment::put(const Lot& lot) {
    asked_ = Side::Archive;
    auto known = lot;
    known.newest = std::max(newest_, lot.last);
    auto position = archive_.put(known);
    if (position) {
        taken_ += lot.receipts.size();
        limit_ = std::min(limit_ * 2, Lot::kMostReceipts);
    } else {
        // The archive is possibly too slow to store the whole Lot within the time limit. One faulty receipt can be the reason why
        // the archive cannot store the Lot.
        limit_ = std::max(limit_ / 2, 1U);
    }
    return position;
}

Result<std::vector<Receipt>> Shipment::listAfter(std::uint64_t sequence, std::uint32_t limit, Profiles profiles) {
    asked_ = Side::Node;
    return node_.list({.limit = limit, .after = sequence, .epoch = epoch_, .profiles = profiles == Profiles::With});
}

bool Shipment::hasFailedJob() {
    if (epoch_.empty() || failing_)
        return false;
    const auto failed = node_.list({.limit = 1, .outcomes = {JobOutcome::Failed}, .after = cursor_, .epoch = epoch_});
    return failed && !failed->empty();
}

void Shipment::changeEpoch(const std::string& epoch) {
    epoch_ = epoch;
    located_ = false;
    cursor_ = 0;
    newest_ = 0;
}

void Shipment::arrived(std::uint64_t sequence) {
    cursor_ = sequence;
    onPosition_(epoch_, sequence);
}

} // namespace pinfold
