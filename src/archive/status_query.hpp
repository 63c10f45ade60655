// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "cli/archive_status.hpp"
#include "postgres/postgres_connection.hpp"

namespace pinfold {

/// Reads the view pinfold.status. readStatus() can return every error that PostgresConnection::run() can return.
Result<ArchiveStatus> readStatus(PostgresConnection& connection);

} // namespace pinfold
