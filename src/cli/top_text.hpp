// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "cli/top_history.hpp"
#include "cli/top_rows.hpp"
#include "wording/amounts.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct TopStyle {
    std::string sort;   ///< the name of the column by which the rows are sorted
    bool legend = true; ///< show the line with the sums, and the column headers
    bool pairs = false; ///< print each row as a line of NAME="value", and nothing else
    Amounts amounts;
    // `width` and `height` are the size of the terminal. If the page does not fit into the terminal, topText() leaves out less
    // important columns and the last rows, and cuts lines. If `width` and `height` are 0, topText() cuts nothing.
    std::size_t width = 0;
    std::size_t height = 0;
};

/// Returns the history of the job that `row` describes, or nothing if the history is not known.
using HistoryOf = std::function<std::optional<TopHistory>(const TopRow& row)>;

/// Returns the output of `pinfold top`: the sums of all jobs, a line about problems, and a table. Each line ends with a line
/// break. If the terminal is wide enough, topText() adds columns with the histories of the jobs. topText() asks `historyOf` only
/// for the histories that topText() shows. If `historyOf` is empty, topText() adds no histories.
std::string topText(const std::vector<TopRow>& rows, RealTime at, const std::optional<Error>& trouble, const TopStyle& style,
                    const HistoryOf& historyOf = {});

} // namespace pinfold
