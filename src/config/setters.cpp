// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/setters.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <algorithm>
#include <sstream>

namespace pinfold {

Error wrong(const std::string& what) { return {ErrorCode::ConfigInvalid, what}; }

std::string show(const toml::node& node) {
    std::ostringstream text;
    if (const auto* value = node.as_string())
        text << '"' << value->get() << '"';
    else if (const auto* integer = node.as_integer())
        text << integer->get();
    else if (const auto* boolean = node.as_boolean())
        text << (boolean->get() ? "true" : "false");
    else
        text << (node.is_array() ? "an " : "a ") << node.type();
    return printable(text.str(), 200);
}

Error noAmount(const toml::node& node) { return wrong(show(node) + " is not an amount: use a number or a string with a unit"); }

Result<std::uint64_t> amount(const toml::node& node, Result<std::uint64_t> (*parse)(std::string_view)) {
    if (const auto* text = node.as_string())
        return parse(text->get());
    if (const auto* number = node.as_integer(); number && number->get() >= 0)
        return static_cast<std::uint64_t>(number->get());
    return noAmount(node);
}

Result<Microseconds> time(const toml::node& node) {
    if (const auto* text = node.as_string())
        return parseDuration(text->get());
    if (const auto* number = node.as_integer();
        number && number->get() >= 0 && static_cast<std::uint64_t>(number->get()) <= kForever / 2 / 1s)
        return Microseconds(std::chrono::seconds(number->get()));
    return noAmount(node);
}

Result<std::uint64_t> integer(const toml::node& node, std::uint64_t least, std::uint64_t most) {
    if (const auto* number = node.as_integer(); number && number->get() >= 0)
        if (const auto value = static_cast<std::uint64_t>(number->get()); value >= least && value <= most)
            return value;
    return wrong(show(node) + " is out of range: use a number from " + std::to_string(least) + " to " + std::to_string(most));
}

Setter duration(Microseconds& (*member)(Config&), Microseconds least, Microseconds most, const char* range) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto value = time(node);
        if (!value)
            return value.error();
        if (*value < least || *value > most)
            return wrong(show(node) + " is out of range: use " + range);
        member(config) = *value;
        return {};
    };
}

Setter size(std::uint64_t& (*member)(Config&), std::uint64_t least, const char* form) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto value = amount(node, parseSize);
        if (!value)
            return value.error();
        if (*value < least)
            return wrong(show(node) + " is out of range: use " + form);
        member(config) = *value;
        return {};
    };
}

Setter flag(bool& (*member)(Config&)) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto* value = node.as_boolean();
        if (!value)
            return wrong(show(node) + " is not valid: use true or false");
        member(config) = value->get();
        return {};
    };
}

Setter absolutePath(std::string& (*member)(Config&)) {
    return [member](const toml::node& node, Config& config) -> Result<void> {
        const auto path = node.value<std::string>().value_or("");
        if (!path.starts_with('/') || path != printable(path))
            return wrong(show(node) + " is not an absolute path: write \"/path/to/file\"");
        member(config) = path;
        return {};
    };
}

Setter words(std::vector<std::string>& (*member)(Config&), bool (*valid)(const std::string&), const char* what) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        std::vector<std::string> read;
        const auto* list = node.as_array();
        for (std::size_t i = 0; list && i < list->size(); ++i)
            read.push_back((*list)[i].value<std::string>().value_or(""));
        if (!list || !std::all_of(read.begin(), read.end(), valid))
            return wrong(show(node) + " is not a list of " + what);
        member(config) = std::move(read);
        return {};
    };
}

std::vector<std::string> quoted(std::vector<std::string> words) {
    for (auto& word : words)
        word = '"' + word + '"';
    return words;
}

} // namespace pinfold
