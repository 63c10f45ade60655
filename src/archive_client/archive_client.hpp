// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "archive_client/archive_protocol.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/receipt.hpp"

#include <string>
#include <vector>

namespace pinfold {

struct ArchiveAnswer {
    std::vector<Receipt> receipts; ///< the newest first
    /// Holds one text for each receipt that this version of pinfold cannot read. Each text says why this version of pinfold
    /// cannot read one of the receipts. The list `receipts` contains only the receipts that this version of pinfold can read.
    std::vector<std::string> unreadable;
};

/// Asks the service pinfold-archive on this host for receipts. If askArchive() returns no error, no receipt is missing in the
/// answer. The error Unreachable means that nobody listens at the socket, or that the database is down. The error Busy means that
/// the service has had too many connections for some seconds. Apart from Unreachable and Busy, askArchive() can return the errors
/// TimedOut, InvalidArgument and Internal.
Result<ArchiveAnswer> askArchive(const ArchiveQuery& query, const std::string& socketPath = kArchiveSocket);

/// Finds out whether the service pinfold-archive on this host and the database answer. tryArchive() sends a request that the
/// archive can answer quickly. tryArchive() waits at most the time `patience` for each part of the answer. tryArchive() can
/// return every error that askArchive() can return.
Result<void> tryArchive(Microseconds patience, const std::string& socketPath = kArchiveSocket);

/// Asks the service pinfold-archive on this host for the tables of the site report. askForReport() can return every error that
/// askArchive() can return. If the caller is not allowed to see the receipts of all users, the error is Denied.
Result<std::vector<ReportTable>> askForReport(const ReportPeriod& period, const std::string& socketPath = kArchiveSocket);

} // namespace pinfold
