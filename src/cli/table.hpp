// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

struct Column {
    std::string name;      ///< equal to the JSON key
    bool number = false;   ///< right-aligned
    std::size_t least = 0; ///< may be cut to this width where a terminal is too narrow; 0: is never cut
    unsigned leaves = 0;   ///< where the table is too wide all the same, the column with the highest number goes first; 0: stays
};

struct TableStyle {
    bool legend = true;
    std::size_t width = 0; ///< of the terminal; 0: never cut
    bool parsable = false; ///< fields with '|' between, nothing aligned
    std::uint64_t now = 0; ///< CLOCK_REALTIME, microseconds: on a terminal a time near it is written in short
};

/// Lines with a line break each. No borders. On a terminal the table is made to fit: columns leave, others are cut, with an
/// ellipsis. What is too wide even so is cut at the end of the line.
std::string formatTable(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                        const TableStyle& style);

/// A point in time, in full or, on a terminal, in short.
std::string tableTime(std::uint64_t realtimeUsec, const TableStyle& style);

/// Terminal columns that UTF-8 text takes (wcwidth(3)).
std::size_t displayWidth(const std::string& text);

/// The text, or as much of it as fits with an ellipsis.
std::string cutToWidth(const std::string& text, std::size_t width);

} // namespace pinfold
