// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/receipt.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

/// Holds receipts of a node. pinfold-ship sends the receipts of a lot to the archive in one transaction.
struct Lot {
    /// The limits of a lot. Only a lot with a single receipt may be larger than kMostBytes.
    static constexpr std::uint32_t kMostReceipts = 500;
    static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

    std::string epoch;
    /// The lot covers all sequences from `first` to `last`. If the lot has no receipt for a sequence from `first` to `last`,
    /// the node has no receipt with this sequence any more. In an empty lot, `last` is `first` - 1.
    std::uint64_t first = 1;
    std::uint64_t last = 0;
    std::uint64_t newest = 0;               ///< the highest sequence that the node has
    std::vector<std::string> receipts = {}; ///< the receipts as JSON, in the order of their sequences
    std::vector<std::string> profiles = {}; ///< Receipt::profile of each receipt of the lot
};

/// Makes one Lot from the receipts at the beginning of the list. `first` is the lowest sequence that the lot may have. The lot
/// ends before the first receipt whose epoch is not `epoch`, and before the first receipt without a sequence. The lot ends before
/// the first receipt whose sequence is not higher than the sequence of the preceding receipt. A lot with several receipts never
/// exceeds Lot::kMostBytes.
Lot makeLot(const std::vector<Receipt>& receipts, const std::string& epoch, std::uint64_t first);

} // namespace pinfold
