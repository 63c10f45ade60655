// SPDX-License-Identifier: LGPL-2.1-or-later
// Gets receipts from the site's archive, if the configuration of this host has archive.ask = true.
#pragma once

#include "archive_client/archive_protocol.hpp"
#include "base/result.hpp"
#include "model/receipt.hpp"

#include <vector>

namespace pinfold {

/// Returns true if the configuration has archive.ask = true. If the configuration cannot be read, and this host has the socket of
/// the archive, the error is ConfigInvalid. If asksArchive() returned false instead of an error, pinfold would show only the
/// receipts of this host. A user could mistake the receipts of this host for the receipts of all hosts. If the configuration
/// cannot be read, and this host does not have the socket of the archive, the result is false.
Result<bool> asksArchive();

/// Gets receipts from the archive. Prints a message to standard error if the answer has receipts that this version of pinfold
/// cannot read. receiptsOfArchive() can return every error that askArchive() can return.
Result<std::vector<Receipt>> receiptsOfArchive(const ArchiveQuery& query);

} // namespace pinfold
