// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/report_table.hpp"

#include <vector>

namespace pinfold {

/// Gets the figures of the site report about the jobs that ended from `since` to `until`. Only the archive has the receipts of
/// all nodes. Error: Unreachable, if this host cannot ask an archive.
Result<std::vector<ReportTable>> siteTables(RealTime since, RealTime until);

} // namespace pinfold
