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

/// Returns the version of the archive's tables, or nullopt if the database has no tables. schemaVersion() can return every error
/// that PostgresConnection::run() can return.
Result<std::optional<std::uint64_t>> schemaVersion(PostgresConnection& connection);

/// Makes the archive's database, if the database does not exist. makeDatabase() can return every error that PostgresConnection
/// can return.
Result<void> makeDatabase(const PostgresServer& server);

struct Upgraded {
    std::uint64_t from = 0; ///< the old version of the tables; 0 if the database had no tables
    std::uint64_t to = 0;
};

/// Upgrades the tables: runs the SQL file of each version that the database does not have yet. Each SQL file runs in a
/// transaction of its own. upgradeSchema() can return every error that PostgresConnection can return. If the tables already have
/// a higher version than the last element of `files`, the error is ConfigInvalid.
Result<Upgraded> upgradeSchema(PostgresConnection& connection, const std::vector<std::string>& files);

} // namespace pinfold
