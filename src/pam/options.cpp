// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pam/options.hpp"

#include "base/escape.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace pinfold::pam {
namespace {

std::optional<std::vector<std::string>> namesIn(std::string_view list) {
    std::vector<std::string> names;
    for (std::size_t start = 0; start <= list.size();) {
        const auto end = std::min(list.find(',', start), list.size());
        if (end == start)
            return std::nullopt;
        names.emplace_back(list.substr(start, end - start));
        start = end + 1;
    }
    return names;
}

/// Sets `isOther` to false if `value` is the word `usual`, and to true if `value` is the word `other`. Returns false if `value`
/// is neither `usual` nor `other`.
bool choose(std::string_view value, std::string_view usual, std::string_view other, bool& isOther) {
    isOther = value == other;
    return isOther || value == usual;
}

bool take(std::string_view name, std::string_view value, PamOptions& options) {
    if (name == "on_failure")
        return choose(value, "refuse", "admit", options.admitOnFailure);
    if (name == "several")
        return choose(value, "newest", "deny", options.denySeveral);
    if (name != "admit_groups")
        return false;
    auto names = namesIn(value);
    if (names)
        options.admitGroups = std::move(*names);
    return names.has_value();
}

} // namespace

PamOptions parsePamOptions(std::span<const char* const> arguments) {
    PamOptions options;
    for (const std::string_view argument : arguments) {
        const auto equals = std::min(argument.find('='), argument.size());
        const auto value = argument.substr(std::min(equals + 1, argument.size()));
        if (!take(argument.substr(0, equals), value, options) && options.wrong.empty())
            options.wrong = "'" + printable(argument, 200) +
                            "' is not valid: use admit_groups=GROUP,GROUP..., on_failure=refuse|admit or several=newest|deny";
    }
    return options;
}

} // namespace pinfold::pam
