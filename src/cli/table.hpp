// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

struct Column {
    std::string name;      ///< the name of the column, and in JSON the key of the column's values
    bool number = false;   ///< the column contains numbers, and is right-aligned
    std::size_t least = 0; ///< the least width of the column on a narrow terminal; 0 if the column must not be cut
    /// If a table is too wide, formatTable() first leaves out the column with the highest value of `leaves`. formatTable() never
    /// leaves out a column whose member `leaves` is 0.
    unsigned leaves = 0;
    std::string heading = {}; ///< the heading of the column; if `heading` is empty, the table shows `name`
};

struct TableStyle {
    bool legend = true;
    std::size_t width = 0; ///< the width of the terminal; if the width is 0, the table is not cut
    bool pairs = false;    ///< each row becomes a line of NAME="value", as `lsblk --pairs` prints it; no value is cut
    RealTime now{};        ///< on a terminal, times near `now` have a short form
};

/// Returns a table without borders, in which each line ends with a line break. The text of the cells must be printable. If the
/// terminal is too narrow, formatTable() leaves out some columns, and ends shortened cells with an ellipsis. If a line is still
/// too wide, formatTable() cuts the end of the line.
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
