// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

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
    std::uint64_t now = 0; ///< CLOCK_REALTIME, microseconds; a terminal shows times near `now` in a short form
};

/// Returns the table as lines, each with a line break, without borders. The cells must be printable. If a terminal is too narrow,
/// formatTable() leaves out some columns, and cuts others with an ellipsis. A line that is still too wide is cut at its end.
std::string formatTable(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                        const TableStyle& style);

/// Returns a point in time: in full or, on a terminal, in a short form.
std::string tableTime(std::uint64_t realtimeUsec, const TableStyle& style);

/// Returns how many columns of a terminal a UTF-8 text takes (wcwidth(3)).
std::size_t displayWidth(const std::string& text);

/// Returns the text. If the text does not fit, it is cut and ends with an ellipsis.
std::string cutToWidth(const std::string& text, std::size_t width);

/// The first `most` lines of the text, each of them cut.
std::string cutLines(const std::string& text, std::size_t width, std::size_t most = SIZE_MAX);

} // namespace pinfold
