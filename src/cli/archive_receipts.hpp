// SPDX-License-Identifier: LGPL-2.1-or-later
// Asks the site's archive of receipts, on hosts whose configuration says so.
#pragma once

#include "archive_client/archive_protocol.hpp"
#include "base/result.hpp"
#include "model/receipt.hpp"

#include <vector>

namespace pinfold {

/// Returns whether the configuration has archive.ask = true. If the caller cannot read the configuration, the answer is no,
/// unless this host has the socket of the archive. The error then is ConfigInvalid, because the receipts of this host alone could
/// be taken for all receipts.
Result<bool> asksArchive();

/// Gets receipts from the archive. Prints a message to standard error if the answer has receipts that this version of pinfold
/// cannot read. The errors are those of askArchive().
Result<std::vector<Receipt>> receiptsOfArchive(const ArchiveQuery& query);

} // namespace pinfold
