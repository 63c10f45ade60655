// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes and upgrades the tables of the archive.
#pragma once

#include "base/result.hpp"
#include "postgres/postgres_connection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Returns the version of the archive's tables, or nullopt if the database has no tables. The errors are those of
/// PostgresConnection::run().
Result<std::optional<std::uint64_t>> schemaVersion(PostgresConnection& connection);

/// Makes the database, if it does not exist. The errors are those of PostgresConnection.
Result<void> makeDatabase(const PostgresServer& server);

struct Upgraded {
    std::uint64_t from = 0; ///< the old version of the tables; 0 if the database had no tables
    std::uint64_t to = 0;
};

/// Upgrades the tables: runs the SQL file of each version that the database does not have yet. Each SQL file runs in a
/// transaction of its own. The errors are those of PostgresConnection, and ConfigInvalid if the version of the database is later
/// than the version of the last file.
Result<Upgraded> upgradeSchema(PostgresConnection& connection, const std::vector<std::string>& files);

} // namespace pinfold
