// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains the functions that store the values of configuration keys in a Config. Each key has one Setter. The type of a key's
// value, such as a number or a list, determines the key's Setter. If a value is not valid, the Setter's error message contains
// the value and says which values are allowed. The caller of the Setter adds the file, the line and the column to the error
// message.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/word_list.hpp"
#include "config/config.hpp"

#include <toml++/toml.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold {

using Setter = std::function<Result<void>(const toml::node&, Config&)>;
using Section = std::map<std::string_view, Setter>;

Error wrong(const std::string& what);

/// Returns the value in the syntax of the configuration file, for use in a message. The text that show() returns is printable.
std::string show(const toml::node& node);

/// Reads a value that the configuration file contains as an integer or as a string.
Result<std::uint64_t> amount(const toml::node& node, Result<std::uint64_t> (*parse)(std::string_view));

Result<std::uint64_t> integer(const toml::node& node, std::uint64_t least, std::uint64_t most);

/// Returns a setter for a duration. If the configuration file has an integer as the duration, the unit is seconds. The setter
/// accepts "infinity" if `most` is kForever. The text `range` is for error messages, and says which durations are allowed.
Setter duration(Microseconds& (*member)(Config&), Microseconds least, Microseconds most, const char* range);

/// Returns a setter for a number of bytes. The setter accepts "infinity" and every number that is not below `least`. The text
/// `form` is for error messages, and says which values are allowed.
Setter size(std::uint64_t& (*member)(Config&), std::uint64_t least, const char* form);

Setter flag(bool& (*member)(Config&));

Setter absolutePath(std::string& (*member)(Config&));

/// Returns a setter for a list of texts. `what` is a word for the texts, such as "groups", and appears in error messages.
Setter words(std::vector<std::string>& (*member)(Config&), bool (*valid)(const std::string&), const char* what);

/// Returns the words with quotation marks, in the form that a configuration file needs.
std::vector<std::string> quoted(std::vector<std::string> words);

template <class T> Setter word(T& (*member)(Config&), std::vector<std::pair<std::string_view, T>> words) {
    return [member, words](const toml::node& node, Config& config) -> Result<void> {
        std::vector<std::string> allowed;
        for (const auto& [name, value] : words) {
            if (node.value<std::string_view>() == name) {
                member(config) = value;
                return {};
            }
            allowed.emplace_back(name);
        }
        return wrong(show(node) + " is not valid: use " + enumerated(quoted(std::move(allowed))));
    };
}

template <class T> Setter count(T& (*member)(Config&), std::uint64_t least, std::uint64_t most) {
    return [=](const toml::node& node, Config& config) -> Result<void> {
        const auto value = integer(node, least, most);
        if (!value)
            return value.error();
        member(config) = static_cast<T>(*value);
        return {};
    };
}

} // namespace pinfold
