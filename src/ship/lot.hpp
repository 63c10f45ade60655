// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "model/receipt.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

/// Holds receipts of a node. pinfold-ship sends all receipts of a Lot to the archive in one transaction.
struct Lot {
    /// The limits of a lot. Only a Lot with a single receipt can be larger than kMostBytes.
    static constexpr std::uint32_t kMostReceipts = 500;
    static constexpr std::size_t kMostBytes = std::size_t{4} << 20;

    std::string epoch;
    /// The Lot contains all of the node's receipts with the sequences from `first` to `last`. If a sequence from `first` to
    /// `last` is missing in the Lot, the node no longer has the receipt with this sequence. If the Lot contains no receipts,
    /// `last` is `first` - 1.
    std::uint64_t first = 1;
    std::uint64_t last = 0;
    std::uint64_t newest = 0;               ///< the sequence of the newest receipt in the node's history
    std::vector<std::string> receipts = {}; ///< the receipts as JSON, in the order of their sequences
    std::vector<std::string> profiles = {}; ///< contains Receipt::profile of each receipt in `receipts`
};

/// Makes a Lot from the receipts at the beginning of `receipts`. `first` is the lowest sequence that a receipt of the Lot can
/// have. The Lot ends before the first receipt that has no sequence or belongs to another epoch. The Lot ends before a receipt
/// whose sequence is not higher than the sequence of the preceding receipt. A Lot with several receipts never exceeds
/// Lot::kMostBytes.
Lot makeLot(const std::vector<Receipt>& receipts, const std::string& epoch, std::uint64_t first);

} // namespace pinfold
