// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/resource_limits.hpp"

#include "base/parse.hpp"
#include "model/limit_table.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace pinfold {
namespace {

std::string describe(std::string_view name, std::uint64_t value) {
    return std::string(name) + " " + (value == kInfinity ? "infinity" : std::to_string(value));
}

bool inRange(const LimitRow& row, std::uint64_t value) {
    return value == kInfinity ? row.mayBeInfinite : value >= row.least && value <= row.most;
}

Result<void> check(const LimitRow& row, std::uint64_t value) {
    if (inRange(row, value))
        return {};
    return Error{ErrorCode::LimitInvalid, describe(row.name, value) + " is out of range: use " + row.range};
}

Result<void> check(const LimitRow& row, const DeviceAmounts& value) {
    for (const auto& [device, amount] : value.amounts)
        if (!inRange(row, amount))
            return Error{ErrorCode::LimitInvalid,
                         std::string(row.name) + " of " + device + " is " + std::to_string(amount) + ": use " + row.range};
    return {};
}

template <class T> Result<void> check(const LimitRow&, const T&) { return {}; }

bool looser(const LimitRow& row, const std::optional<std::uint64_t>& limit, const std::optional<std::uint64_t>& ceiling) {
    return !row.harmless && limit.value_or(row.unset) > ceiling.value_or(row.unset);
}

bool looser(const LimitRow&, const std::optional<CpuList>& limit, const std::optional<CpuList>& ceiling) {
    return ceiling && (!limit || !ceiling->contains(*limit));
}

bool looser(const LimitRow&, const std::optional<DeviceAmounts>& limit, const std::optional<DeviceAmounts>& ceiling) {
    if (!ceiling)
        return false;
    return std::any_of(ceiling->amounts.begin(), ceiling->amounts.end(), [&limit](const auto& entry) {
        if (!limit)
            return true;
        const auto own = limit->amounts.find(entry.first);
        return own == limit->amounts.end() || own->second > entry.second;
    });
}

bool looser(const LimitRow&, const std::optional<std::string>& limit, const std::optional<std::string>& ceiling) {
    return limit != ceiling;
}

bool looser(const LimitRow&, const std::optional<OomPolicy>&, const std::optional<OomPolicy>&) { return false; }

/// Calls f(row, the limit in `one`, the limit in `other`) for each limit.
template <class F> void forEachPair(ResourceLimits& one, const ResourceLimits& other, F&& f) {
    for (const auto& row : limitTable())
        std::visit([&](auto member) { f(row, one.*member, other.*member); }, row.member);
}

/// Replaces the names of devices by numbers. If a disk is in the list more than once, byNumber() keeps only the entry with the
/// largest amount. With several entries for one disk, the order of the entries would decide which amount systemd uses.
ResourceLimits byNumber(ResourceLimits limits, const DeviceNumbers& numbers) {
    forEachLimit(limits, [&numbers](const LimitRow&, auto& limit) {
        if constexpr (std::is_same_v<std::decay_t<decltype(limit)>, std::optional<DeviceAmounts>>) {
            if (!limit)
                return;
            DeviceAmounts numbered;
            for (const auto& [device, amount] : limit->amounts) {
                auto& most = numbered.amounts[numbers(device).value_or(device)];
                most = std::max(most, amount);
            }
            limit = std::move(numbered);
        }
    });
    return limits;
}

} // namespace

std::optional<std::uint64_t> runTimeEnd(const ResourceLimits& limits) {
    const auto end = std::min(limits.runTimeMax.value_or(kInfinity), limits.batchRunTimeMax.value_or(kInfinity));
    return end == kInfinity ? std::nullopt : std::optional(end);
}

bool batchSystemEndsFirst(const ResourceLimits& limits) {
    return limits.batchRunTimeMax.value_or(kInfinity) < limits.runTimeMax.value_or(kInfinity);
}

Result<void> validate(const ResourceLimits& limits) {
    Result<void> result;
    forEachLimit(limits, [&result](const LimitRow& row, const auto& limit) {
        if (limit && result)
            result = check(row, *limit);
    });
    return result;
}

ResourceLimits withDefaults(ResourceLimits limits, const ResourceLimits& defaults) {
    forEachPair(limits, defaults, [](const LimitRow&, auto& limit, const auto& fallback) {
        if (!limit)
            limit = fallback;
    });
    return limits;
}

const char* looserThan(const ResourceLimits& limits, const ResourceLimits& ceiling, const DeviceNumbers& numbers) {
    const char* found = nullptr;
    auto numbered = byNumber(limits, numbers);
    forEachPair(numbered, byNumber(ceiling, numbers), [&found](const LimitRow& row, const auto& limit, const auto& allowed) {
        if (!found && looser(row, limit, allowed))
            found = row.name;
    });
    return found;
}

} // namespace pinfold
