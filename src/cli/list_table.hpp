// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the columns of `pinfold list`.
#pragma once

#include "cli/json.hpp"
#include "cli/table.hpp"
#include "wording/amounts.hpp"

#include <functional>
#include <string>
#include <vector>

namespace pinfold {

struct ListColumn {
    Column column;
    std::function<std::string(const JobDetail&)> text;
    std::function<bool(const JobDetail&, const JobDetail&)> before;
    bool needsDetail = false; ///< the column needs more than JobDetail::job, so pinfold must ask pinfoldd about each job
};

/// Returns the columns with the given names. listColumnNames() returns the names of all columns. If `names` is empty,
/// listColumns() returns the default columns.
std::vector<ListColumn> listColumns(std::vector<std::string> names, const Amounts& amounts, const TableStyle& style);

/// Returns the names of all columns that listColumns() knows.
std::vector<std::string> listColumnNames();

std::string listTable(const std::vector<ListColumn>& columns, const std::vector<JobDetail>& jobs, const TableStyle& style);

} // namespace pinfold
