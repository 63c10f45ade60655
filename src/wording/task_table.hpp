// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the table of a job's tasks for the page of a receipt and for the HTML report.
#pragma once

#include "model/receipt.hpp"
#include "wording/amounts.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pinfold {

struct TaskTable {
    /// The first row has the names of the columns. If the job had only its batch script, the table has no rows, because the job's
    /// figures already describe the script.
    std::vector<std::vector<std::string>> rows;
    std::size_t more = 0; ///< the number of tasks that the table does not show
    bool exact = true;    ///< false if a figure in the table has the mark "+"
};

/// Says what the mark "+" behind a figure means.
inline constexpr const char* kInexact = "+: pinfoldd read this figure before the end of the task";

/// Returns a table of at most `most` tasks of the job.
TaskTable taskTable(const Receipt& receipt, const Amounts& amounts, std::size_t most);

} // namespace pinfold
