// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/report_table.hpp"

#include <vector>

namespace pinfold {

/// Gets the figures of the site report about the jobs that ended from `since` to `until`. Only the archive has the receipts of
/// all nodes. The error is Unreachable if this host does not ask an archive, or if the archive is down. The error is Denied if
/// the caller is not allowed to see the receipts of all users.
Result<std::vector<ReportTable>> siteTables(RealTime since, RealTime until);

} // namespace pinfold
