// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/job_key.hpp"

#include "base/bus_names.hpp"
#include "base/escape.hpp"
#include "base/parse.hpp"

#include <algorithm>

namespace pinfold {
namespace {

constexpr std::string_view kSliceSuffix = ".slice";
constexpr std::string_view kScopePrefix = "job-";
constexpr std::string_view kScopeSuffix = ".scope";

Error invalidKey(std::string_view text, const std::string& why) {
    return {ErrorCode::InvalidArgument,
            "job key '" + printable(text, 100) + "' " + why + ": use <scheduler>.<id>, for instance sge.4711.3"};
}

/// Returns the part of `text` between the prefix and the suffix. If `text` does not have the prefix and the suffix, the result
/// is nullopt.
std::optional<std::string_view> between(std::string_view text, std::string_view prefix, std::string_view suffix) {
    if (text.size() < prefix.size() + suffix.size() || !text.starts_with(prefix) || !text.ends_with(suffix))
        return std::nullopt;
    return text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
}

std::optional<JobKey> keyFromEscaped(std::string_view escaped) {
    const auto text = unescapeUnitName(escaped);
    if (!text)
        return std::nullopt;
    auto key = JobKey::parse(*text);
    return key ? std::optional(std::move(*key)) : std::nullopt;
}

std::optional<std::uint32_t> taskNumber(std::string_view text) {
    const auto number = parseUnsigned(text);
    if (!number || *number == 0 || *number > UINT32_MAX || text.front() == '0')
        return std::nullopt;
    return static_cast<std::uint32_t>(*number);
}

} // namespace

bool isSchedulerName(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

Result<JobKey> JobKey::parse(std::string_view text) {
    const auto dot = text.find('.');
    const auto scheduler = text.substr(0, dot);
    if (!isSchedulerName(scheduler))
        return invalidKey(text, "has no scheduler of lower case letters and digits before its first dot");
    if (dot == std::string_view::npos || dot + 1 == text.size())
        return invalidKey(text, "has no id after the scheduler");
    for (const char c : text.substr(dot + 1))
        if (c <= 0x20 || c >= 0x7f || c == '/')
            return invalidKey(text, "has the character '" + printable({&c, 1}) + "', which is not allowed");
    auto escaped = escapeUnitName(text);
    if (escaped.size() > kMaxEscaped)
        return invalidKey(text, "is too long: escaped for a unit name it has " + std::to_string(escaped.size()) + " of at most " +
                                    std::to_string(kMaxEscaped) + " characters");
    return JobKey(std::string(text), std::move(escaped));
}

JobKey JobKey::manual(std::uint64_t number) {
    auto text = "manual." + std::to_string(number);
    return JobKey(text, text);
}

std::string_view JobKey::scheduler() const { return std::string_view(text_).substr(0, text_.find('.')); }

bool JobKey::isForUsers() const {
    return scheduler() == "user" ||
           (scheduler() == "manual" && !parseUnsigned(std::string_view(text_).substr(text_.find('.') + 1)));
}

std::string JobKey::sliceName() const { return std::string(kSlicePrefix) + escaped_ + std::string(kSliceSuffix); }

std::string JobKey::scopeName(std::uint32_t task) const {
    return std::string(kScopePrefix) + escaped_ + (task == 0 ? "" : "-" + std::to_string(task)) + std::string(kScopeSuffix);
}

std::string JobKey::objectPath() const { return std::string(kManagerPath) + "/job/" + escapeBusLabel(text_); }

std::optional<UnitIdentity> identifyUnit(std::string_view unit) {
    if (const auto escaped = between(unit, kSlicePrefix, kSliceSuffix)) {
        if (auto key = keyFromEscaped(*escaped))
            return UnitIdentity{std::move(*key), std::nullopt};
        return std::nullopt;
    }
    const auto name = between(unit, kScopePrefix, kScopeSuffix);
    if (!name)
        return std::nullopt;
    const auto dash = name->find('-');
    std::optional<std::uint32_t> task = 0;
    if (dash != std::string_view::npos)
        task = taskNumber(name->substr(dash + 1));
    auto key = keyFromEscaped(name->substr(0, dash));
    if (!key || !task)
        return std::nullopt;
    return UnitIdentity{std::move(*key), task};
}

} // namespace pinfold
