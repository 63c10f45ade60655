// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/profile.hpp"
#include "store/history.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Gets receipts from the site's archive if the configuration says so (archive.ask), and otherwise from pinfoldd. If the archive
/// is not reachable, the error is Unreachable, and findReceipts() does not return the receipts of this host. A user could mistake
/// the receipts of this host for the receipts of the whole site. If filter.key is set, the error message names the hosts of the
/// job, as far as pinfoldd on this host knows the hosts. If pinfoldd is not reachable, findReceipts() prints a message to
/// standard error. A caller who is allowed to read the history's file gets the receipts from this file. In the result, the newest
/// receipts come first.
Result<std::vector<Receipt>> findReceipts(const ReceiptFilter& filter);

/// Says whether the answer contains the profile of each receipt (Receipt::profile).
enum class WithProfiles { No, Yes };

/// Gets the receipts of the newest run of the job with the key `key`. The archive has a receipt from each host of the job. On a
/// node that does not ask the archive, the result is the node's newest receipt of the job. If there is no receipt of the job, the
/// error is NoSuchReceipt, with a message for the user.
Result<std::vector<Receipt>> receiptsOfNewestRun(const std::string& key, WithProfiles profiles = WithProfiles::No);

/// Returns the job's profile, or an empty profile if the receipt does not contain a profile. An attacker who controls a node can
/// send any bytes to the archive in place of a profile. If the bytes in the receipt are not a valid profile, the error is
/// Internal, and the message names the host.
Result<Profile> profileOf(const Receipt& receipt);
/// Returns the job's profile. If profileOf() returns an error, knownProfileOf() prints the error to standard error, and returns
/// an empty profile.
Profile knownProfileOf(const Receipt& receipt);

} // namespace pinfold
