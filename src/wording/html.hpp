// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the parts that all HTML files of `pinfold report` have in common. A page consists of one file and has no script, so a
// browser that shows the page sends no request.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Returns the text in a form that never becomes markup. Control characters are escaped as printable() escapes them.
std::string html(std::string_view text);

/// Returns a whole page. `title` is text, and `body` is HTML.
std::string htmlDocument(const std::string& title, const std::string& body);

std::string twoDecimals(double value);

/// Returns a share as text, such as "16.67%" for 0.1667, or "not known".
std::string percent(std::optional<double> share);

/// Returns a box with a name, a value in large letters, and a second value. `name`, `value` and `more` are texts, and not HTML.
/// `tone` is "good", "bad" or "".
std::string card(const std::string& name, const std::string& value, const std::string& more, const char* tone = "");

/// Returns a cell of a table. `style` contains attributes for the tag <td>. A `style` that is not empty must begin with a space.
std::string cell(const std::string& text, const char* style = "");

} // namespace pinfold
