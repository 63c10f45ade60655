// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/top_rows.hpp"
#include "text/amounts.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct TopStyle {
    std::string sort;   ///< what the rows are sorted by
    bool legend = true; ///< the line with the sums, and the column headers
    bool pairs = false; ///< only the rows, as TableStyle says
    Amounts amounts;
    // The terminal's size. Less important columns and what does not fit are left out, and lines are cut. Both 0: nothing is cut.
    std::size_t width = 0;
    std::size_t height = 0;
};

/// The page of `pinfold top`: the sums, what is wrong, and a table. Each line has a line break.
std::string topText(const std::vector<TopRow>& rows, std::uint64_t at, const std::optional<Error>& trouble,
                    const TopStyle& style);

} // namespace pinfold
