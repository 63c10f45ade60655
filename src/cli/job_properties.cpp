// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/job_properties.hpp"

#include "base/word_list.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"
#include "wording/amounts.hpp"

#include <algorithm>
#include <type_traits>

namespace pinfold {
namespace {

std::string text(const std::string& value) { return value; }
std::string text(JobResult value) { return std::string(toString(value)); }
std::string text(OomCause value) { return std::string(toString(value)); }
std::string text(bool value) { return value ? "true" : "false"; }
template <class T>
requires kIsTime<T> std::string text(T value) { return Amounts::number(toUsec(value)); }
template <class T>
requires std::is_integral_v<T> std::string text(T value) { return std::to_string(value); }

std::string text(const std::vector<std::string>& names) { return joined(names, ","); }

std::string text(const Labels& labels) { return text(labelPairs(labels)); }

template <class T> std::string text(const std::optional<T>& value) { return value ? text(*value) : ""; }

/// Returns a function f(name, value) that adds one property at each call.
auto into(Properties& properties) {
    return [&properties](const char* name, const auto& value) { properties.emplace_back(name, text(value)); };
}

void addHolding(Properties& properties, const ResourceLimits& limits, const std::vector<std::string>& notEnforced,
                const Allocation& allocation) {
    forEachLimit(limits, [&properties](const LimitRow& row, const auto& value) {
        std::string shown;
        if constexpr (kIsNumber<decltype(value)>)
            shown = value ? Amounts::number(value) : "";
        else
            shown = value ? limitText(*value) : "";
        properties.emplace_back(row.name, shown);
    });
    properties.emplace_back("limits_not_enforced", text(notEnforced));
    properties.emplace_back("allocated_cpus", allocation.cpus.toString());
    properties.emplace_back("allocated_gpus", allocation.gpus.toString());
    properties.emplace_back("exclusive", text(allocation.exclusive));
}

} // namespace

Properties propertiesOf(const JobDetail& detail, const std::string& user) {
    const auto& job = detail.job;
    Properties properties{{"key", job.key},
                          {"user", user},
                          {"uid", text(job.uid)},
                          {"state", std::string(toString(job.state))},
                          {"tasks", text(job.tasks)},
                          {"leader", text(job.leader)},
                          {"slice", job.slice},
                          {"unit", batchScope(job).value_or("")},
                          {"created", text(job.created)}};
    addHolding(properties, detail.limits, detail.limitsNotEnforced, detail.allocation);
    into(properties)("slots", detail.slots);
    forEachIdentityField(detail.identity, into(properties));
    const auto usage = detail.usage.value_or(Usage{});
    forEachUsage(usage, into(properties));
    return properties;
}

Properties propertiesOf(const Receipt& receipt, const std::string& user) {
    Properties properties;
    const auto add = into(properties);
    forEachReceiptField(receipt, [&](const char* name, const auto& value) {
        const std::string_view field(name);
        if (field == "user")
            add(name, receipt.origin.user.value_or(user));
        else if (field != "limits_not_enforced") // addHolding() adds the property limits_not_enforced
            add(name, value);
    });
    addHolding(properties, receipt.limits, receipt.limitsNotEnforced, receipt.allocation);
    forEachUsage(receipt.usage, [&add](const char* name, const auto& value) {
        if (!isLiveOnly(name))
            add(name, value);
    });
    const auto verdict = receipt.oom ? *receipt.oom : OomVerdict{};
    add("oom_cause", receipt.oom ? std::optional(verdict.cause) : std::nullopt);
    add("oom_at", receipt.oom ? std::optional(verdict.at) : std::nullopt);
    forEachOomDetail(verdict, add);
    forEachIdentityField(receipt.identity, add);
    return properties;
}

std::vector<std::string> propertyNames() {
    std::vector<std::string> names;
    for (const auto& properties : {propertiesOf(JobDetail{}, {}), propertiesOf(Receipt{}, {})})
        for (const auto& [name, value] : properties)
            if (std::ranges::find(names, name) == names.end())
                names.push_back(name);
    return names;
}

} // namespace pinfold
