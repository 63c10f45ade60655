// SPDX-License-Identifier: LGPL-2.1-or-later
// Defines a fake node and a fake archive that keep their data in memory. A test decides when the node or the archive fails. The
// fake archive follows the rules of pinfold.put() in src/archive/sql.
#pragma once

#include "model/receipt_json.hpp"
#include "ship/endpoints.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <vector>

namespace pinfold::test {

class FakeNode : public NodeReceipts {
public:
    /// Adds a receipt that has the next sequence number.
    Receipt& addOne(int exitStatus = 0) {
        Receipt made;
        made.sequence = ++last;
        made.epoch = epoch;
        made.id = epoch + "-" + std::to_string(last);
        made.key = "sge." + std::to_string(last);
        made.exit.status = exitStatus;
        return receipts.emplace_back(std::move(made));
    }
    void add(std::uint64_t number) {
        for (std::uint64_t n = 0; n < number; ++n)
            addOne();
    }
    void replaceHistory(const std::string& newEpoch) {
        epoch = newEpoch;
        last = 0;
        receipts.clear();
    }
    void remove(std::uint64_t first, std::uint64_t lastRemoved) {
        std::erase_if(receipts, [=](const Receipt& r) { return *r.sequence >= first && *r.sequence <= lastRemoved; });
    }

    Result<std::vector<Receipt>> list(const ReceiptFilter& filter) override {
        ++asked;
        if (!failures.empty()) {
            const auto failure = failures.front();
            failures.pop_front();
            return failure;
        }
        std::vector<Receipt> found;
        const auto matches = [&](const Receipt& receipt) {
            const auto after = filter.epoch.value_or(epoch) == epoch ? filter.after.value_or(0) : 0;
            return *receipt.sequence > after && (!filter.key || receipt.key == *filter.key) &&
                   (filter.outcomes.empty() || outcomeOf(receipt) == filter.outcomes.front());
        };
        std::copy_if(receipts.begin(), receipts.end(), std::back_inserter(found), matches);
        if (!filter.after)
            std::reverse(found.begin(), found.end());
        found.resize(std::min<std::size_t>(found.size(), filter.limit));
        for (auto& receipt : found)
            if (!filter.profiles)
                receipt.profile.clear();
        return found;
    }

    std::string epoch = "first";
    std::uint64_t last = 0;
    std::vector<Receipt> receipts;
    std::deque<Error> failures; ///< the next calls fail with these errors, each call with one error
    int asked = 0;
};

class FakeArchive : public Archive {
public:
    Result<std::uint64_t> position(const std::string& epoch) override {
        if (auto failure = nextFailure())
            return *failure;
        return positions[epoch];
    }
    Result<std::uint64_t> put(const Lot& lot) override {
        lots.push_back(lot);
        if (auto failure = nextFailure(); failure && !loseAnswer)
            return *failure;
        auto& position = positions[lot.epoch];
        if (lot.first > position + 1)
            return Error{ErrorCode::InvalidArgument, "the lot begins after the position"};
        for (auto next = position + 1; next <= lot.last; ++next)
            gaps[lot.epoch].push_back(next);
        for (std::size_t i = 0; i < lot.receipts.size(); ++i) {
            const auto receipt = *decodeReceipt(lot.receipts[i]);
            if (!lot.profiles.at(i).empty())
                profiles.emplace(receipt.id, lot.profiles[i]);
            std::erase(gaps[lot.epoch], *receipt.sequence);
            auto& stored = rows[receipt.id];
            if (stored.id.empty() || (!stored.exit.status && receipt.exit.status))
                stored = receipt;
        }
        position = std::max(position, lot.last);
        newest = lot.newest;
        if (loseAnswer) {
            loseAnswer = false;
            return Error{ErrorCode::Unreachable, "the connection was lost"};
        }
        return position;
    }

    std::map<std::string, std::uint64_t> positions;
    std::map<std::string, Receipt> rows;
    std::map<std::string, std::string> profiles; ///< maps the id of a receipt to its profile
    std::map<std::string, std::vector<std::uint64_t>> gaps;
    std::vector<Lot> lots;
    std::deque<Error> failures; ///< the next calls fail with these errors, each call with one error
    bool loseAnswer = false;    ///< the archive stores the receipts of the next put(), but the answer is lost
    std::uint64_t newest = 0;

private:
    std::optional<Error> nextFailure() {
        if (failures.empty())
            return std::nullopt;
        const auto failure = failures.front();
        failures.pop_front();
        return failure;
    }
};

} // namespace pinfold::test
