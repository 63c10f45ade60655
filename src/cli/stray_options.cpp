// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/stray_options.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "cli/suggestion.hpp"

#include <array>
#include <sstream>

namespace pinfold {
namespace {

constexpr std::array<std::string_view, 4> kModes{"report", "warn", "stop", "kill"};
static_assert(kModes.size() == static_cast<std::size_t>(StraysMode::Kill) + 1, "one name for each mode");

Error invalid(const std::string& text, const std::string& what) {
    return {ErrorCode::InvalidArgument, "'" + printable(text, 100) + "' is not valid: use " + what};
}

Result<std::uint32_t> number(const std::string& text, std::uint32_t most) {
    const auto value = parseUnsigned(text);
    if (!value || *value == 0 || *value > most)
        return invalid(text, "a number from 1 to " + std::to_string(most));
    return static_cast<std::uint32_t>(*value);
}

Result<std::uint64_t> duration(const std::string& text, std::uint64_t most, const char* form) {
    const auto value = parseDuration(text);
    if (!value || *value > most)
        return invalid(text, form);
    return *value;
}

std::string actionableKinds() {
    std::string words;
    for (const auto& name : strayKindNames())
        if (strayKindFromString(name) != StrayKind::Orphan)
            words += (words.empty() ? "" : ", ") + name;
    return words;
}

} // namespace

Result<std::uint32_t> parseUserId(const std::string& text) { return number(text, StraysConfig::kMostUid); }
Result<std::uint32_t> parseKills(const std::string& text) { return number(text, StraysConfig::kMostKills); }
Result<std::uint64_t> parseLeast(const std::string& text) { return duration(text, kInfinity - 1, "a duration such as 90s"); }
Result<std::uint64_t> parseStrayGrace(const std::string& text) { return duration(text, StraysConfig::kMostGrace, "0 to 1h"); }

Result<std::vector<std::string>> parseNames(const std::string& text) {
    std::vector<std::string> names;
    std::istringstream words(text);
    for (std::string word; std::getline(words, word, ',');)
        if (!word.empty())
            names.push_back(word);
    if (names.empty())
        return invalid(text, "names separated by commas");
    return names;
}

Result<StrayKinds> parseKinds(const std::string& text) {
    const auto names = parseNames(text);
    if (!names)
        return names.error();
    StrayKinds kinds;
    for (const auto& name : *names) {
        const auto kind = strayKindFromString(name);
        if (!kind || *kind == StrayKind::Orphan)
            return Error{ErrorCode::InvalidArgument, "'" + printable(name, 100) + "' is not a kind that pinfold can act on" +
                                                         (kind ? "" : suggestion(name, strayKindNames())) + "; use " +
                                                         actionableKinds()};
        kinds.insert(*kind);
    }
    return kinds;
}

Result<std::optional<StraysMode>> parseStraysMode(const std::string& text) {
    if (text == "configured")
        return std::optional<StraysMode>();
    for (std::size_t i = 0; i < kModes.size(); ++i)
        if (kModes[i] == text)
            return std::optional(static_cast<StraysMode>(i));
    return invalid(text, "report, warn, stop, kill or configured");
}

std::string_view toString(StraysMode mode) { return kModes[static_cast<std::size_t>(mode)]; }

} // namespace pinfold
