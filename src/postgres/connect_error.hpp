// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "postgres/postgres_connection.hpp"

#include <string_view>

namespace pinfold {

/// Checks that this program can read three files: its certificate, its private key and the certificate of the CA. Error:
/// ConfigInvalid.
Result<void> checkFiles(const PostgresServer& server);

/// Returns the error for a failed connection. If connectError() knows the cause of the failure, the returned message says what to
/// do. `message` is libpq's message with the verbosity PQERRORS_VERBOSE, so the message contains the SQLSTATE.
Error connectError(const PostgresServer& server, std::string_view message);

/// Returns a text that says where the server is, such as "PostgreSQL on db.example.org, port 5432".
std::string serverName(const PostgresServer& server);

/// Returns libpq's message in one line, without its last line break and without control characters.
std::string oneLine(std::string_view message);

} // namespace pinfold
