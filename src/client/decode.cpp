// SPDX-License-Identifier: LGPL-2.1-or-later
#include "client/decode.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <type_traits>

namespace pinfold {
namespace {

/// Returns texts such as "within 30s" and "within 300ms".
std::string inWords(std::chrono::steady_clock::duration waited) {
    if (waited == std::chrono::steady_clock::duration::zero())
        return "in time";
    const auto milliseconds = std::chrono::round<std::chrono::milliseconds>(waited);
    const auto rounded = milliseconds < std::chrono::seconds(1) ? milliseconds : std::chrono::round<std::chrono::seconds>(waited);
    return "within " + formatDuration(static_cast<std::uint64_t>(std::chrono::microseconds(rounded).count()));
}

template <class T> void take(const bus::Dict& dict, const char* name, std::optional<T>& value) {
    if (const auto it = dict.find(name); it != dict.end())
        value = it->second.get<T>();
}

template <class T> T value(const bus::Dict& dict, const char* name) {
    std::optional<T> found;
    take(dict, name, found);
    return found.value_or(T{});
}

} // namespace

JobInfo decodeJob(const bus::Dict& dict) {
    JobInfo job;
    job.key = value<std::string>(dict, "key");
    job.state = shownStateFromString(value<std::string>(dict, "state"));
    job.uid = value<std::uint32_t>(dict, "uid");
    job.slice = value<std::string>(dict, "slice");
    job.unit = value<std::string>(dict, "unit");
    if (const auto leader = value<std::uint32_t>(dict, "leader"); leader != 0)
        job.leader = leader;
    job.created = value<std::uint64_t>(dict, "created");
    job.tasks = value<std::uint32_t>(dict, "tasks");
    take(dict, "unkillable_since", job.unkillableSince);
    job.unkillableInFuse = value<bool>(dict, "unkillable_in_fuse");
    return job;
}

std::optional<Drain> decodeDrainProperties(const bus::Dict& properties) {
    if (!value<bool>(properties, "Draining"))
        return std::nullopt;
    Drain drain{.reason = value<std::string>(properties, "DrainReason"), .since = {}, .by = {}};
    const auto details = value<bus::Dict>(properties, "DrainDetails");
    take(details, "since", drain.since);
    take(details, "by", drain.by);
    return drain;
}

Reconciliation decodeReconciliation(const bus::Dict& dict) {
    Reconciliation found;
    forEachOrphanKind(found, [&dict](const char* kind, auto& names) { names = value<std::vector<std::string>>(dict, kind); });
    return found;
}

ProcessEntry decodeProcess(const bus::Dict& dict) {
    ProcessEntry process;
    process.pid = value<std::uint32_t>(dict, "pid");
    process.task = value<std::uint32_t>(dict, "task");
    process.uid = value<std::uint32_t>(dict, "uid");
    process.started = value<std::uint64_t>(dict, "started");
    process.cpu = value<std::uint64_t>(dict, "cpu");
    process.rss = value<std::uint64_t>(dict, "rss");
    process.state = value<std::string>(dict, "state");
    take(dict, "wait_point", process.waitPoint);
    process.command = value<std::string>(dict, "command");
    return process;
}

Receipt decodeReceipt(const bus::Dict& dict) {
    Receipt receipt;
    receipt.id = value<std::string>(dict, "id");
    receipt.key = value<std::string>(dict, "key");
    receipt.uid = value<std::uint32_t>(dict, "uid");
    receipt.started = value<std::uint64_t>(dict, "started");
    receipt.ended = value<std::uint64_t>(dict, "ended");
    receipt.wall = value<std::uint64_t>(dict, "wall");
    receipt.suspended = value<std::uint64_t>(dict, "suspended");
    receipt.result = jobResultFromString(value<std::string>(dict, "result")).value_or(JobResult::Lost);
    take(dict, "exit_status", receipt.exit.status);
    take(dict, "exit_signal", receipt.exit.signal);
    take(dict, "stopped_by", receipt.stoppedBy);
    receipt.tasks = value<std::uint32_t>(dict, "tasks");
    receipt.leftovers.count = value<std::uint32_t>(dict, "leftovers");
    receipt.leftovers.cpu = value<std::uint64_t>(dict, "leftover_cpu");
    receipt.leftovers.commands = value<std::vector<std::string>>(dict, "leftover_commands");
    receipt.usage = decodeUsage(dict);
    if (const auto cause = oomCauseFromString(value<std::string>(dict, "oom_cause"))) {
        receipt.oom.emplace();
        receipt.oom->cause = *cause;
        receipt.oom->at = value<std::uint64_t>(dict, "oom_at");
        forEachOomDetail(*receipt.oom, [&dict](const char* name, auto& member) { take(dict, name, member); });
    }
    receipt.limits = decodeLimits(dict);
    receipt.limitsNotEnforced = value<std::vector<std::string>>(dict, "limits_not_enforced");
    receipt.allocation = decodeAllocation(dict);
    return receipt;
}

Usage decodeUsage(const bus::Dict& dict) {
    Usage usage;
    forEachUsage(usage, [&dict](const char* name, auto& member) { take(dict, name, member); });
    using Struct = sdbus::Struct<std::string, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t>;
    for (const auto& io : value<std::vector<Struct>>(dict, "io_devices"))
        usage.ioDevices.push_back({std::get<0>(io), std::get<1>(io), std::get<2>(io), std::get<3>(io), std::get<4>(io)});
    return usage;
}

Allocation decodeAllocation(const bus::Dict& dict) {
    Allocation allocation;
    for (const auto& [name, member] : {std::pair{"allocated_cpus", &allocation.cpus}, {"allocated_gpus", &allocation.gpus}})
        if (const auto numbers = CpuList::parse(value<std::string>(dict, name)))
            *member = *numbers;
    allocation.exclusive = value<bool>(dict, "exclusive");
    allocation.environment = value<std::map<std::string, std::string>>(dict, "environment");
    return allocation;
}

ResourceLimits decodeLimits(const bus::Dict& dict) {
    ResourceLimits limits;
    forEachLimit(limits, [&dict](const LimitRow& row, auto& member) {
        if constexpr (kIsNumber<decltype(member)>) {
            take(dict, row.name, member);
        } else {
            std::optional<std::string> text;
            take(dict, row.name, text);
            if (text)
                (void)setLimitText(*text, member); // a word of a newer pinfoldd is left out
        }
    });
    return limits;
}

namespace {

template <class T> void put(bus::Dict& dict, const char* name, const std::optional<T>& value) {
    if (!value)
        return;
    if constexpr (kIsNumber<std::optional<T>>)
        dict.emplace(name, sdbus::Variant(*value));
    else
        dict.emplace(name, sdbus::Variant(limitText(*value)));
}

} // namespace

bus::Dict encodeLimits(const ResourceLimits& limits) {
    bus::Dict dict;
    forEachLimit(limits, [&dict](const LimitRow& row, const auto& limit) { put(dict, row.name, limit); });
    return dict;
}

bus::Dict encodeAllocation(const AllocationRequest& request) {
    bus::Dict dict;
    forEachAllocationRequest(request, [&dict](const char* name, const auto& member) { put(dict, name, member); });
    if (request.exclusive)
        dict.emplace("exclusive", sdbus::Variant(true));
    return dict;
}

bus::Dict encodeFilter(const ReceiptFilter& filter) {
    bus::Dict dict;
    if (filter.key)
        dict.emplace("key", sdbus::Variant(*filter.key));
    if (filter.uid)
        dict.emplace("uid", sdbus::Variant(*filter.uid));
    if (filter.since)
        dict.emplace("since", sdbus::Variant(*filter.since));
    if (filter.until)
        dict.emplace("until", sdbus::Variant(*filter.until));
    if (filter.before)
        dict.emplace("before", sdbus::Variant(*filter.before));
    dict.emplace("limit", sdbus::Variant(filter.limit));
    if (filter.result)
        dict.emplace("result", sdbus::Variant(*filter.result));
    if (filter.scheduler)
        dict.emplace("scheduler", sdbus::Variant(*filter.scheduler));
    for (const auto& [outcome, name] : {std::pair{JobOutcome::Failed, "failed"}, {JobOutcome::Unknown, "unknown"}})
        if (std::ranges::find(filter.outcomes, outcome) != filter.outcomes.end())
            dict.emplace(name, sdbus::Variant(true));
    if (filter.leftoversOnly)
        dict.emplace("leftovers", sdbus::Variant(true));
    return dict;
}

bus::Dict encodeRetention(const Retention& retention) {
    bus::Dict dict;
    if (retention.maxAge)
        dict.emplace("max_age", sdbus::Variant(*retention.maxAge));
    if (retention.maxBytes)
        dict.emplace("max_size", sdbus::Variant(*retention.maxBytes));
    return dict;
}

Error fromBusError(const sdbus::Error& error, std::chrono::steady_clock::duration waited) {
    const auto name = bus::errorName(error);
    const std::string& message = error.getMessage();
    if (const auto code = errorCodeFromDbusName(name))
        return {*code, message};
    const auto words = printable(message.empty() ? name : message, 500);
    // TimedOut is not in this list: the bus uses it for a pinfoldd that cannot be started.
    constexpr std::array<std::string_view, 3> slow{"org.freedesktop.DBus.Error.Timeout", "System.Error.ETIMEDOUT",
                                                   "org.freedesktop.DBus.Error.NoReply"};
    if (name == "org.freedesktop.DBus.Error.AccessDenied")
        return {ErrorCode::Denied, words};
    if (std::find(slow.begin(), slow.end(), name) != slow.end() && message.find("disconnected") == std::string::npos)
        return {ErrorCode::TimedOut, "pinfoldd did not answer " + inWords(waited) + "; look at `systemctl status pinfoldd`"};
    return {ErrorCode::Unreachable, "pinfoldd is not reachable: " + words + "; look at `systemctl status pinfoldd`"};
}

} // namespace pinfold
