// SPDX-License-Identifier: LGPL-2.1-or-later
// `pinfold archive prune` makes the tables of the next eight weeks, and nodes make none. So if nothing calls prune any more, the
// receipts of later weeks have no table of their own.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "postgres/postgres_connection.hpp"

#include <optional>

namespace pinfold {

/// Returns the beginning of the first week without a table, if this is the present week or one of the next two weeks. The errors
/// are those of PostgresConnection::run().
Result<std::optional<RealTime>> weekWithoutTable(PostgresConnection& connection);

} // namespace pinfold
