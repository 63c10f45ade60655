// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/receipt.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Keeps receipts that pinfoldd could not yet write to the history, so that the receipts survive a restart of pinfoldd. Each
/// receipt is a file <directory>/<id>.json with mode 0600. ReceiptSpool does no fsync, because the directory is in memory.
class ReceiptSpool {
public:
    explicit ReceiptSpool(std::filesystem::path directory) : directory_(std::move(directory)) {}

    /// Stores a receipt. `text` is the encoded receipt. Creates the directory (0700) if it does not exist. Error: Internal.
    Result<void> keep(const Receipt& receipt, std::string_view text) const;
    void remove(const Receipt& receipt) const;

    struct Loaded {
        std::vector<Receipt> receipts;       ///< the receipts in the order in which their jobs ended
        std::vector<std::string> unreadable; ///< one line for each file that cannot be read; the line says why
    };
    /// Reads all receipts. If the directory does not exist, the result has no receipts.
    Loaded load() const;

private:
    std::filesystem::path fileOf(const Receipt& receipt) const { return directory_ / (receipt.id + ".json"); }

    std::filesystem::path directory_;
};

} // namespace pinfold
