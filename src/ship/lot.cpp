// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/lot.hpp"

#include "model/profile.hpp"
#include "model/receipt_json.hpp"

#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kBytesAsText = 2; ///< the number of characters for each byte of a profile in PostgreSQL's text form

} // namespace

Lot makeLot(const std::vector<Receipt>& receipts, const std::string& epoch, std::uint64_t first) {
    Lot lot{.epoch = epoch, .first = first, .last = first - 1, .newest = first - 1};
    std::size_t bytes = 0;
    for (const auto& receipt : receipts) {
        if (receipt.epoch != epoch || !receipt.sequence || *receipt.sequence <= lot.last)
            break;
        auto text = encodeForStore(receipt);
        // If a lot contains a profile of more than Profile::kMostBytes bytes, the archive refuses the lot. A profile can be
        // larger than Profile::kMostBytes only if somebody has changed the history.
        auto profile = receipt.profile.size() <= Profile::kMostBytes ? receipt.profile : std::string();
        bytes += text.size() + kBytesAsText * profile.size();
        if (bytes > Lot::kMostBytes && !lot.receipts.empty())
            break;
        lot.receipts.push_back(std::move(text));
        lot.profiles.push_back(std::move(profile));
        lot.last = *receipt.sequence;
    }
    lot.newest = lot.last;
    return lot;
}

} // namespace pinfold
