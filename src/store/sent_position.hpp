// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes the file in which pinfold-ship says which receipts are in the site's archive. Before pinfoldd removes
// receipts, it reads the file in which pinfold-ship stores its position. The user account of the service pinfold-ship owns the
// file, so pinfoldd does not trust the file's contents. If somebody forges this file, pinfoldd still removes only receipts that
// it would remove on a site without an archive.
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace pinfold {

struct SentPosition {
    std::string epoch;          ///< the epoch of the history
    std::uint64_t sequence = 0; ///< all receipts of the epoch with this sequence or a lower one are in the archive
    RealTime time{};            ///< the time at which pinfold-ship learned this sequence from the archive

    bool operator==(const SentPosition&) const = default;
};

/// Returns the text of the file.
std::string encode(const SentPosition& sent);

/// Reads the file. Reading the file can block, because the file is on a disk. Returns nullopt if the file is not a regular file,
/// has more than 4 KiB or contains no position. If the file contains no position, no receipt counts as sent.
std::optional<SentPosition> readSentPosition(const std::filesystem::path& file);

/// Returns the sequence that the file contains. All receipts of the epoch with this sequence or a lower one are in the archive.
/// Returns 0 if the file contains no position of this epoch.
std::uint64_t sentOf(const std::filesystem::path& file, const std::string& epoch);

} // namespace pinfold
