// SPDX-License-Identifier: LGPL-2.1-or-later
// PostgreSQL lets each role change the settings with which the sessions of the role begin. All nodes share one role, and all
// login nodes share another role. So a host that was taken over can disturb the other hosts with such settings.
#pragma once

#include "base/result.hpp"
#include "postgres/postgres_connection.hpp"

#include <string>
#include <vector>

namespace pinfold {

struct RoleSetting {
    std::string role;
    std::string setting; ///< such as "statement_timeout=1"
};

/// Returns the settings of the archive's roles that do not come from pinfold. The errors are those of PostgresConnection::run().
Result<std::vector<RoleSetting>> foreignRoleSettings(PostgresConnection& connection);

/// Gives the archive's roles the settings that pinfold gives to a new role, and removes the passwords of these roles. All nodes
/// together get four fifths of the server's connections. The errors are those of PostgresConnection::runScript().
Result<void> resetRoles(PostgresConnection& connection);

} // namespace pinfold
