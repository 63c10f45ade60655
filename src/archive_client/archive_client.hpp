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
    /// Holds one text for each receipt that this version of pinfold cannot read. The text says what is wrong with the receipt.
    /// The list `receipts` contains only the receipts that this version of pinfold can read.
    std::vector<std::string> unreadable;
};

/// Asks the service pinfold-archive on this host for receipts. The errors are Unreachable (nobody listens at the socket, or the
/// database is down), TimedOut, Busy (the service still had too many connections after some seconds), InvalidArgument and
/// Internal. An answer without an error is complete.
Result<ArchiveAnswer> askArchive(const ArchiveQuery& query, const std::string& socketPath = kArchiveSocket);

/// Asks the service pinfold-archive on this host a question that the archive answers at once. The call waits for each part of the
/// answer for at most the time `patience`. The errors are those of askArchive().
Result<void> tryArchive(Microseconds patience, const std::string& socketPath = kArchiveSocket);

/// Asks the service pinfold-archive on this host for the tables of the site report. The errors are those of askArchive(), and
/// Denied if the caller may not see the receipts of all users.
Result<std::vector<ReportTable>> askForReport(const ReportPeriod& period, const std::string& socketPath = kArchiveSocket);

} // namespace pinfold
