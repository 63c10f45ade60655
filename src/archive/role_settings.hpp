// SPDX-License-Identifier: LGPL-2.1-or-later
// In PostgreSQL, a role has settings for its new sessions, and each session of the role can change these settings. All hosts that
// send receipts use the role pinfold_node, and all hosts that read receipts use the role pinfold_reader. An attacker who controls
// a host can disturb other hosts by changing the settings of the host's role.
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

/// Returns the settings that somebody other than pinfold gave to the archive's roles. foreignRoleSettings() can return every
/// error that PostgresConnection::run() can return.
Result<std::vector<RoleSetting>> foreignRoleSettings(PostgresConnection& connection);

/// Gives the archive's roles the settings that pinfold gives to a new role, and removes the passwords of these roles. All nodes
/// together get four fifths of the server's connections. resetRoles() can return every error that PostgresConnection::runScript()
/// can return.
Result<void> resetRoles(PostgresConnection& connection);

} // namespace pinfold
