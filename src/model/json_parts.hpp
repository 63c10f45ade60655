// SPDX-License-Identifier: LGPL-2.1-or-later
// Contains functions that read and write the JSON of records, receipts, the wrapper's packets and the output of pinfold. The JSON
// library of nlohmann takes seconds to compile, so only .cpp files are allowed to include this header.
#pragma once

#include "model/allocation.hpp"
#include "model/job_identity.hpp"
#include "model/json.hpp"
#include "model/limit_table.hpp"
#include "model/receipt.hpp"
#include "model/set_limit.hpp"

namespace pinfold {

template <class T> Json limitToJson(const std::optional<T>& limit) {
    if constexpr (kIsNumber<std::optional<T>>)
        return optionalToJson(limit);
    else
        return limit ? Json(limitText(*limit)) : Json(nullptr);
}

template <class T> void limitFromJson(const Json& json, const char* name, std::optional<T>& limit) {
    if constexpr (kIsNumber<std::optional<T>>) {
        optionalFromJson(json, name, limit);
    } else {
        std::optional<std::string> text;
        optionalFromJson(json, name, text);
        if (!text)
            return;
        if (auto set = setLimitText(*text, limit); !set)
            throw std::invalid_argument(set.error().message);
    }
}

inline void putLimits(Json& json, const ResourceLimits& limits, Unset unset = Unset::AsNull) {
    forEachLimit(limits,
                 [&json, unset](const LimitRow& row, const auto& limit) { put(json, row.name, limitToJson(limit), unset); });
}

/// Reads the limits of a request.
inline void takeLimits(const Json& json, ResourceLimits& limits) {
    forEachLimit(limits, [&json](const LimitRow& row, auto& limit) { limitFromJson(json, row.name, limit); });
}

template <class T> void storedLimitFromJson(const Json& json, const char* name, std::optional<T>& limit) {
    limitFromJson(json, name, limit);
}

inline void storedLimitFromJson(const Json& json, const char* name, std::optional<DeviceAmounts>& limit) {
    std::optional<std::string> text;
    optionalFromJson(json, name, text);
    if (!text)
        return;
    auto amounts = DeviceAmounts::parseStored(*text);
    if (!amounts)
        throw std::invalid_argument(amounts.error().message);
    limit = std::move(*amounts);
}

/// Reads the limits of a job from JSON that pinfoldd has stored. An earlier pinfoldd accepted some names of disks that pinfoldd
/// now refuses in requests.
inline void takeStoredLimits(const Json& json, ResourceLimits& limits) {
    forEachLimit(limits, [&json](const LimitRow& row, auto& limit) { storedLimitFromJson(json, row.name, limit); });
}

inline Json numbersToJson(const CpuList& numbers) { return numbers.empty() ? Json(nullptr) : Json(numbers.toString()); }

inline void putAllocation(Json& json, const Allocation& allocation, Unset unset = Unset::AsNull) {
    put(json, "allocated_cpus", numbersToJson(allocation.cpus), unset);
    put(json, "allocated_gpus", numbersToJson(allocation.gpus), unset);
    put(json, "exclusive", allocation.exclusive);
}

/// Calls wanted(name) for each usage figure, and adds the figure to `json` if the result is true. putUsage() always adds the
/// figures of the disks to `json`.
template <class F> void putUsage(Json& json, const Usage& usage, F&& wanted, Unset unset = Unset::AsNull) {
    forEachUsage(usage, [&](const char* name, const auto& value) {
        if (wanted(name))
            put(json, name, optionalToJson(value), unset);
    });
    auto devices = Json::array();
    for (const auto& io : usage.ioDevices)
        devices.push_back({{"device", io.device},
                           {"io_read", io.read},
                           {"io_written", io.written},
                           {"io_reads", io.reads},
                           {"io_writes", io.writes}});
    put(json, "io_devices", std::move(devices));
}

inline void takeUsage(const Json& json, Usage& usage) {
    forEachUsage(usage, [&json](const char* name, auto& value) { optionalFromJson(json, name, value); });
    const auto devices = json.find("io_devices"); // JSON from an earlier pinfold possibly lacks io_devices
    if (devices == json.end())
        return;
    for (const auto& io : *devices)
        usage.ioDevices.push_back({io.at("device").get<std::string>(), io.at("io_read").get<std::uint64_t>(),
                                   io.at("io_written").get<std::uint64_t>(), io.at("io_reads").get<std::uint64_t>(),
                                   io.at("io_writes").get<std::uint64_t>()});
}

inline void putMember(Json& json, const char* name, JobResult result, Unset) { put(json, name, toString(result)); }

inline void takeMember(const Json& json, const char* name, JobResult& result) {
    result = required(jobResultFromString(json.at(name).get<std::string>()), "result");
}

/// Adds to `json` the members that describe the end of the job. A receipt and a record describe the end of the job with the same
/// members.
template <class R> void putEnd(Json& json, const R& ended, Unset unset) {
    forEachEndField(ended, [&json, unset](const char* name, const auto& value) { putMember(json, name, value, unset); });
}

template <class R> void takeEnd(const Json& json, R& ended) {
    forEachEndField(ended, [&json](const char* name, auto& value) { takeMember(json, name, value); });
}

inline void putOom(Json& json, const Boxed<OomVerdict>& oom, Unset unset) {
    if (!oom && unset == Unset::LeftOut)
        return;
    put(json, "oom_cause", oom ? Json(toString(oom->cause)) : Json(nullptr));
    put(json, "oom_at", oom ? Json(oom->at) : Json(nullptr));
    const auto verdict = oom ? *oom : OomVerdict{};
    forEachOomDetail(verdict,
                     [&json, unset](const char* name, const auto& value) { put(json, name, optionalToJson(value), unset); });
}

inline void takeOom(const Json& json, Boxed<OomVerdict>& oom) {
    std::optional<std::string> cause;
    optionalFromJson(json, "oom_cause", cause);
    if (!cause)
        return;
    oom.emplace();
    oom->cause = required(oomCauseFromString(*cause), "cause");
    oom->at = json.at("oom_at").get<RealTime>();
    forEachOomDetail(*oom, [&json](const char* name, auto& value) { optionalFromJson(json, name, value); });
}

inline void putMember(Json& json, const char* name, TaskKind kind, Unset) { put(json, name, toString(kind)); }

inline void takeMember(const Json& json, const char* name, TaskKind& kind) {
    kind = required(taskKindFromString(json.at(name).get<std::string>()), "kind");
}

inline Json taskToJson(const TaskReceipt& task, Unset unset) {
    auto json = Json::object();
    forEachTaskField(task, [&json, unset](const char* name, const auto& value) { putMember(json, name, value, unset); });
    return json;
}

inline void takeTask(const Json& json, TaskReceipt& task) {
    forEachTaskField(task, [&json](const char* name, auto& value) { takeMember(json, name, value); });
}

inline CpuList numbersFromJson(const Json& json, const char* name) {
    std::optional<CpuList> numbers;
    limitFromJson(json, name, numbers);
    return numbers.value_or(CpuList());
}

inline void takeAllocation(const Json& json, Allocation& allocation) {
    allocation.cpus = numbersFromJson(json, "allocated_cpus");
    allocation.gpus = numbersFromJson(json, "allocated_gpus");
    allocation.exclusive = json.value("exclusive", false);
}

/// Adds to `json` only the members of `identity` that are set. An earlier pinfoldd cannot read a record that contains an unknown
/// member.
inline void putIdentity(Json& json, const JobIdentity& identity) {
    forEachIdentityField(identity, [&json](const char* name, const auto& member) {
        if (isSet(member))
            putMember(json, name, member, Unset::LeftOut);
    });
}

inline void takeIdentity(const Json& json, JobIdentity& identity) {
    forEachIdentityField(identity, [&json](const char* name, auto& member) { takeMember(json, name, member); });
}

inline bool isOfReceipts(const char* name) { return !isLiveOnly(name); }

} // namespace pinfold
