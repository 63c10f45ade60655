// SPDX-License-Identifier: LGPL-2.1-or-later
// Implements History::vacuum() and History::unsent().
#pragma once

#include "store/history.hpp"
#include "store/sqlite.hpp"

#include <filesystem>
#include <string>

namespace pinfold {

/// Implements History::vacuum(). Call removeReceipts() in a transaction. `epoch` is the epoch of the history. Error: Internal.
Result<Vacuumed> removeReceipts(sqlite3* db, const std::string& epoch, const Retention& retention, RealTime now,
                                std::size_t maxRows);

/// Implements History::unsent(). Error: Internal.
Result<std::uint64_t> countUnsent(sqlite3* db, const std::string& epoch, const std::filesystem::path& sentFile);

/// Returns the total size of the file's used pages, in bytes. Error: Internal.
Result<std::uint64_t> bytesInUse(sqlite3* db);

} // namespace pinfold
