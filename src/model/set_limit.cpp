// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/set_limit.hpp"

#include "base/enum_names.hpp"
#include "base/escape.hpp"
#include "base/parse.hpp"
#include "base/word_list.hpp"
#include "model/limit_table.hpp"

#include <algorithm>
#include <variant>

namespace pinfold {
namespace {

using enum LimitForm;

constexpr std::size_t kMaxName = 64;

constexpr auto kOomPolicies = enumNames<OomPolicy>({{OomPolicy::Job, "job"}, {OomPolicy::Process, "process"}});

Result<std::uint64_t> parseNumber(std::string_view text) {
    return text == "infinity" ? Result<std::uint64_t>(kInfinity) : parseUnsigned(text);
}

Result<std::uint64_t> parseSignalNumber(std::string_view text) {
    const auto signal = parseSignal(text);
    return signal ? Result<std::uint64_t>(static_cast<std::uint64_t>(*signal)) : Result<std::uint64_t>(signal.error());
}

Result<std::uint64_t> parseTime(std::string_view text) {
    const auto time = parseDuration(text);
    return time ? Result<std::uint64_t>(toUsec(*time)) : Result<std::uint64_t>(time.error());
}

Result<std::uint64_t> parseAmount(LimitForm form, std::string_view text) {
    switch (form) {
    case Size:
        return parseSize(text);
    case Duration:
        return parseTime(text);
    case Quota:
        return parseCpuQuota(text);
    case Signal:
        return parseSignalNumber(text);
    default:
        return parseNumber(text);
    }
}

Result<void> read(const LimitRow& row, std::string_view text, std::optional<std::uint64_t>& limit) {
    const auto amount = parseAmount(row.form, text);
    if (!amount)
        return amount.error();
    limit = *amount;
    return {};
}

template <class T> Result<void> read(const LimitRow&, std::string_view text, std::optional<T>& limit) {
    return setLimitText(text, limit);
}

} // namespace

Result<void> setLimit(ResourceLimits& limits, std::string_view name, std::string_view text) {
    const auto* const row = findLimit(name);
    if (!row)
        return Error{ErrorCode::InvalidArgument, "unknown limit '" + printable(name, 100) + "'"};
    const auto set = std::visit([&](auto member) { return read(*row, text, limits.*member); }, row->member);
    return set ? validate(limits) : set;
}

std::string limitText(OomPolicy value) { return std::string(kOomPolicies[value]); }

Result<void> setLimitText(std::string_view text, std::optional<CpuList>& limit) {
    auto list = CpuList::parse(text);
    if (!list)
        return list.error();
    limit = std::move(*list);
    return {};
}

Result<void> setLimitText(std::string_view text, std::optional<DeviceAmounts>& limit) {
    auto amounts = DeviceAmounts::parse(text);
    if (!amounts)
        return amounts.error();
    limit = std::move(*amounts);
    return {};
}

Result<void> setLimitText(std::string_view text, std::optional<std::string>& limit) {
    const auto isNameCharacter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    if (text.empty() || text.size() > kMaxName || !std::all_of(text.begin(), text.end(), isNameCharacter))
        return Error{ErrorCode::InvalidArgument,
                     "name '" + printable(text, 100) + "' is not valid: use 1 to 64 letters, digits, - and _"};
    limit = std::string(text);
    return {};
}

Result<void> setLimitText(std::string_view text, std::optional<OomPolicy>& limit) {
    const auto policy = kOomPolicies.find(text);
    if (!policy)
        return Error{ErrorCode::InvalidArgument,
                     "oom_policy '" + printable(text, 100) + "' is not valid: use " + enumerated(oomPolicyNames())};
    limit = *policy;
    return {};
}

std::vector<std::string> oomPolicyNames() { return kOomPolicies.all(); }

} // namespace pinfold
