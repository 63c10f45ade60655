// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pinfold {

struct Column {
    std::string name;    ///< equal to the JSON key
    bool number = false; ///< right-aligned
};

struct TableStyle {
    bool legend = true;
    std::size_t width = 0; ///< of the terminal; 0: never cut
    bool parsable = false; ///< fields with '|' between, nothing aligned
};

/// Lines with a line break each. No borders. Only the last column is cut, with an ellipsis.
std::string formatTable(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                        const TableStyle& style);

/// Terminal columns that UTF-8 text takes (wcwidth(3)).
std::size_t displayWidth(const std::string& text);

/// The text, or as much of it as fits with an ellipsis.
std::string cutToWidth(const std::string& text, std::size_t width);

} // namespace pinfold
