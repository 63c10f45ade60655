// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/spool_config.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kLongestNumber = 32; // the maximum length of a number in a spool file, in characters

std::optional<double> multiplier(std::string_view suffix) {
    constexpr std::array<std::pair<char, double>, 8> kMultipliers{
        {{'k', 1e3}, {'m', 1e6}, {'g', 1e9}, {'t', 1e12}, {'K', 0x1p10}, {'M', 0x1p20}, {'G', 0x1p30}, {'T', 0x1p40}}};
    if (suffix.empty())
        return 1;
    const auto found = std::find_if(kMultipliers.begin(), kMultipliers.end(),
                                    [suffix](const auto& row) { return suffix.size() == 1 && row.first == suffix[0]; });
    return found == kMultipliers.end() ? std::nullopt : std::optional(found->second);
}

bool isHexadecimal(std::string_view text) { return text.starts_with("0x") || text.starts_with("0X"); }

std::string_view withoutBlanks(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

} // namespace

GridEngineConfig GridEngineConfig::parse(std::string_view text) {
    GridEngineConfig config;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        const auto line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (const auto equals = line.find('='); equals != std::string_view::npos && equals > 0)
            config.entries_[std::string(line.substr(0, equals))].emplace_back(line.substr(equals + 1));
    }
    return config;
}

const std::vector<std::string>& GridEngineConfig::values(std::string_view name) const {
    static const std::vector<std::string> none;
    const auto found = entries_.find(name);
    return found == entries_.end() ? none : found->second;
}

std::string GridEngineConfig::value(std::string_view name) const {
    const auto& all = values(name);
    return all.empty() ? std::string() : all.back();
}

std::optional<std::uint64_t> parseGridEngineMemory(std::string_view text) {
    text = withoutBlanks(text);
    if (text.size() > kLongestNumber)
        return std::nullopt;
    double number = 0;
    auto format = std::chars_format::fixed;
    if (isHexadecimal(text)) {
        text.remove_prefix(2);
        format = std::chars_format::hex;
    }
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number, format);
    const auto factor = multiplier({rest, static_cast<std::size_t>(end - rest)});
    if (error != std::errc() || !factor || !std::isfinite(number) || number < 0)
        return std::nullopt;
    return static_cast<std::uint64_t>(std::min(number * *factor, 0x1p63 - 1024));
}

} // namespace pinfold
