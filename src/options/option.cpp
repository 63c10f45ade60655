// SPDX-License-Identifier: LGPL-2.1-or-later
#include "options/option.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "options/words.hpp"

#include <algorithm>
#include <iterator>

namespace pinfold {

const Option* findOption(const OptionSet& options, std::string_view word) {
    const auto found = std::find_if(options.begin(), options.end(), [word](const Option& option) {
        return option.name == word || (option.letter != 0 && word.size() == 2 && word[0] == '-' && word[1] == option.letter);
    });
    return found == options.end() ? nullptr : &*found;
}

Result<void> apply(const Option& option, const std::string& text) {
    // An empty argument must not select the whole node, because scripts sometimes pass the value of an unset variable.
    if (option.isArgument() && text.empty())
        return Error{ErrorCode::InvalidArgument, option.name + " is empty"};
    if (!option.words.empty() && std::ranges::find(option.words, text) == option.words.end())
        return Error{ErrorCode::InvalidArgument,
                     option.name + ": '" + printable(text, 100) + "' is not valid" + correction(text, option.words)};
    auto set = option.set(text);
    return set ? set : Error{set.error().code, option.name + ": " + set.error().message};
}

std::vector<std::string> namesOf(const OptionSet& options) {
    std::vector<std::string> names;
    std::ranges::transform(options, std::back_inserter(names), &Option::name);
    return names;
}

void append(OptionSet& options, OptionSet more) {
    options.reserve(options.size() + more.size());
    std::ranges::move(more, std::back_inserter(options));
}

OptionSetter into(bool& target) {
    return [&target](const std::string&) -> Result<void> {
        target = true;
        return {};
    };
}

OptionSetter into(std::string& target) {
    return [&target](const std::string& text) -> Result<void> {
        target = text;
        return {};
    };
}

OptionSetter into(std::optional<std::string>& target) {
    return [&target](const std::string& text) -> Result<void> {
        target = text;
        return {};
    };
}

OptionSetter into(std::vector<std::string>& target) {
    return [&target](const std::string& text) -> Result<void> {
        target.push_back(text);
        return {};
    };
}

std::function<Result<std::uint64_t>(const std::string&)> numberFrom(std::uint64_t least, std::uint64_t most) {
    return [least, most](const std::string& text) -> Result<std::uint64_t> {
        auto number = parseUnsigned(text);
        if (number && *number >= least && *number <= most)
            return number;
        return Error{ErrorCode::InvalidArgument, "'" + printable(text, 100) + "' is not valid: use a number from " +
                                                     std::to_string(least) +
                                                     (most == UINT64_MAX ? " on" : " to " + std::to_string(most))};
    };
}

} // namespace pinfold
