// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the columns of `pinfold list`.
#pragma once

#include "cli/job_details.hpp"
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
    DetailParts parts = {}; ///< the parts of JobDetail that the column needs in addition to JobDetail::job
};

/// Returns the columns with the given names. listColumnNames() returns the names of all columns. If `names` is empty,
/// listColumns() returns the default columns.
std::vector<ListColumn> listColumns(std::vector<std::string> names, const Amounts& amounts, const TableStyle& style);

/// Returns the parts of JobDetail that at least one of the columns needs.
DetailParts partsOf(const std::vector<ListColumn>& columns);

/// Returns the names of all columns that listColumns() knows.
std::vector<std::string> listColumnNames();

std::string listTable(const std::vector<ListColumn>& columns, const std::vector<JobDetail>& jobs, const TableStyle& style);

} // namespace pinfold
