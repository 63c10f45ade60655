// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

struct Column {
    std::string name;      ///< the same as the JSON key
    bool number = false;   ///< a column of numbers, which is right-aligned
    std::size_t least = 0; ///< the least width to which the column may be cut if a terminal is too narrow; 0 if it is never cut
    unsigned leaves = 0;   ///< if the table is still too wide, the column with the highest number is left out first; 0 if the
                           ///< column always stays
};

struct TableStyle {
    bool legend = true;
    std::size_t width = 0; ///< the terminal's width; if 0, nothing is cut
    bool pairs = false;    ///< each row is a line of NAME="value", as `lsblk --pairs` prints it; nothing is cut
    RealTime now{};        ///< a terminal shows times near `now` in a short form
};

/// Returns a table without borders, in which each line ends with a line break. The text of the cells must be printable. If the
/// terminal is too narrow, formatTable() leaves out some columns, and shortens the text in other columns with an ellipsis. If a
/// line is still too wide, formatTable() cuts the end of the line.
std::string formatTable(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                        const TableStyle& style);

/// Formats a point in time for a table. On a terminal, tableTime() uses a short form of the time.
std::string tableTime(RealTime time, const TableStyle& style);

/// Returns the width of a UTF-8 text on a terminal, in columns (wcwidth(3)).
std::size_t displayWidth(const std::string& text);

/// Returns a text that fits into `width` columns. If the whole text does not fit, cutToWidth() shortens the text with an
/// ellipsis.
std::string cutToWidth(const std::string& text, std::size_t width);

/// Returns the first `most` lines of the text, and shortens each line to `width` columns.
std::string cutLines(const std::string& text, std::size_t width, std::size_t most = SIZE_MAX);

} // namespace pinfold
