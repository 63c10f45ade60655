// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

struct Column {
    std::string name;      ///< the same as the JSON key
    bool number = false;   ///< right-aligned
    std::size_t least = 0; ///< if a terminal is too narrow, the column may be cut to this width; 0: it is never cut
    unsigned leaves = 0;   ///< if the table is still too wide, the column with the highest number is left out first; 0: it stays
};

struct TableStyle {
    bool legend = true;
    std::size_t width = 0; ///< the terminal's width; 0: never cut
    bool pairs = false;    ///< each row is a line of NAME="value", as `lsblk --pairs` prints it; nothing is cut
    std::uint64_t now = 0; ///< CLOCK_REALTIME, microseconds; a terminal shows times near it in short
};

/// The table as lines, each with a line break, without borders. The cells must be printable. On a terminal it is made to fit:
/// some columns are left out, and others are cut, with an ellipsis. A line that is still too wide is cut at its end.
std::string formatTable(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                        const TableStyle& style);

/// A point in time: in full or, on a terminal, in short.
std::string tableTime(std::uint64_t realtimeUsec, const TableStyle& style);

/// How many columns of a terminal a UTF-8 text takes (wcwidth(3)).
std::size_t displayWidth(const std::string& text);

/// The text. If it does not fit, it is cut, and ends with an ellipsis.
std::string cutToWidth(const std::string& text, std::size_t width);

/// The first `most` lines of the text, each of them cut.
std::string cutLines(const std::string& text, std::size_t width, std::size_t most = SIZE_MAX);

} // namespace pinfold
