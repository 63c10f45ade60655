// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/lot.hpp"

#include "model/receipt_json.hpp"

#include <utility>

namespace pinfold {

Lot makeLot(const std::vector<Receipt>& receipts, const std::string& epoch, std::uint64_t first) {
    Lot lot{.epoch = epoch, .first = first, .last = first - 1, .newest = first - 1};
    std::size_t bytes = 0;
    for (const auto& receipt : receipts) {
        if (receipt.epoch != epoch || !receipt.sequence || *receipt.sequence <= lot.last)
            break;
        auto text = encodeForStore(receipt);
        bytes += text.size();
        if (bytes > Lot::kMostBytes && !lot.receipts.empty())
            break;
        lot.receipts.push_back(std::move(text));
        lot.last = *receipt.sequence;
    }
    lot.newest = lot.last;
    return lot;
}

} // namespace pinfold
