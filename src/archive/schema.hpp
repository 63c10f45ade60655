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

/// Returns the version of the archive's tables, or nullopt if the database has none. The errors are those of
/// PostgresConnection::run().
Result<std::optional<std::uint64_t>> schemaVersion(PostgresConnection& connection);

/// Makes the database, if it does not exist. The errors are those of PostgresConnection.
Result<void> makeDatabase(const PostgresServer& server);

struct Upgraded {
    std::uint64_t from = 0; ///< 0 if there were no tables
    std::uint64_t to = 0;
};

/// Runs the files of the versions that the database does not have yet, each in a transaction of its own. The errors are those of
/// PostgresConnection, and ConfigInvalid if the database has a later version than the last file.
Result<Upgraded> upgradeSchema(PostgresConnection& connection, const std::vector<std::string>& files);

} // namespace pinfold
