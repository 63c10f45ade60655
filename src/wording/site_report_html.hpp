// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the HTML file of `pinfold report --site`. The HTML file needs no other file and has no script, and texts of users never
// become markup.
#pragma once

#include "base/clock.hpp"
#include "model/report_table.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Returns a page with the figures of all nodes of a site. The figures cover the jobs that ended from `since` to `until`. The
/// order of `tables` does not matter. The page has a section for each element of `tables`. If pinfold does not know the name of a
/// table, the table's section is at the end of the page.
std::string htmlSiteReport(const std::vector<ReportTable>& tables, RealTime since, RealTime until);

} // namespace pinfold
