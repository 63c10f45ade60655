// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds lines, words and numbers in the texts of files such as /proc/PID/status and /proc/PID/stat (proc(5)).
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace pinfold {

/// Returns the number at the beginning of the text. The result is empty if the text does not begin with a number of the type
/// `T`.
template <class T> std::optional<T> number(std::string_view text, int base = 10) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    return error == std::errc{} && end != text.data() ? std::optional(value) : std::nullopt;
}

/// Returns the value of the line that begins with `name`.
std::optional<std::string_view> lineOf(std::string_view text, std::string_view name);

/// Returns the words of the text, which are separated by blanks and line breaks.
std::vector<std::string_view> fields(std::string_view text);

} // namespace pinfold
