// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "store/history.hpp"
#include "store/sqlite.hpp"

namespace pinfold {

/// Reads the table `live` for History::live(). Error: Internal.
Result<LiveTable> readLive(sqlite3* db);

} // namespace pinfold
