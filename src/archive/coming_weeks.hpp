// SPDX-License-Identifier: LGPL-2.1-or-later
// Only `pinfold archive prune` makes the tables of the next eight weeks. If nobody runs `pinfold archive prune` any more, the
// receipts of later weeks get no table of their own.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "postgres/postgres_connection.hpp"

#include <optional>

namespace pinfold {

/// Returns the beginning of the first week without a table. Returns nullopt if the present week and the next two weeks have
/// tables. weekWithoutTable() can return every error that PostgresConnection::run() can return.
Result<std::optional<RealTime>> weekWithoutTable(PostgresConnection& connection);

} // namespace pinfold
