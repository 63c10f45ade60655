// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/profile.hpp"
#include "store/history.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Gets receipts from the site's archive if the configuration says so (archive.ask), and otherwise from pinfoldd. If the archive
/// is not reachable, the error is Unreachable, because a user could take the receipts of this host alone for all receipts. If
/// pinfoldd is not reachable, findReceipts() prints a message to standard error, and reads the history's file if the caller has
/// the right to read it. In the result, the newest receipts come first.
Result<std::vector<Receipt>> findReceipts(const ReceiptFilter& filter);

/// Gets the receipts of the newest run of a job with this key. The result has at least one receipt. The archive has a receipt
/// from each host of the job. A node has only receipts of its own, so on a node the result is the newest receipt. The error
/// NoSuchReceipt has a message for the user.
Result<std::vector<Receipt>> receiptsOfNewestRun(const std::string& key);

/// Gets the profile of the job of the newest receipt with this key. A live job may have the same key, for example because the
/// batch system has requeued the job. In this case, pinfoldd returns the profile of the live job, so profileOfReceipt() returns
/// the error NoSuchReceipt instead. The archive has no profiles, so the error is NoSuchReceipt on a host that asks the archive.
Result<Profile> profileOfReceipt(const std::string& key);

} // namespace pinfold
