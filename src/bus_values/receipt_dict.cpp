// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_values/receipt_dict.hpp"

#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <utility>
#include <vector>

namespace pinfold {
namespace {

using pinfold::put;
using pinfold::take;

void put(Dict& dict, const char* name, JobResult result) { put(dict, name, std::string(toString(result))); }

void take(const Dict& dict, const char* name, JobResult& result) {
    std::string word;
    take(dict, name, word);
    result = jobResultFromString(word).value_or(JobResult::Lost);
}

void put(Dict& dict, const char* name, TaskKind kind) { put(dict, name, std::string(toString(kind))); }

void take(const Dict& dict, const char* name, TaskKind& kind) {
    std::string word;
    take(dict, name, word);
    kind = taskKindFromString(word).value_or(TaskKind::Task);
}

Dict toDict(const TaskReceipt& task) {
    Dict dict;
    forEachTaskField(task, [&dict](const char* name, const auto& value) { put(dict, name, value); });
    return dict;
}

TaskReceipt taskFrom(const Dict& dict) {
    TaskReceipt task;
    forEachTaskField(task, [&dict](const char* name, auto& value) { take(dict, name, value); });
    return task;
}

} // namespace

Dict toDict(const ResourceLimits& limits) {
    Dict dict;
    forEachLimit(limits, [&dict](const LimitRow& row, const auto& limit) {
        if constexpr (kIsNumber<decltype(limit)>)
            put(dict, row.name, limit);
        else if (limit)
            put(dict, row.name, limitText(*limit));
    });
    return dict;
}

ResourceLimits limitsFrom(const Dict& dict) {
    ResourceLimits limits;
    forEachLimit(limits, [&dict](const LimitRow& row, auto& limit) {
        if constexpr (kIsNumber<decltype(limit)>) {
            take(dict, row.name, limit);
        } else {
            std::optional<std::string> text;
            take(dict, row.name, text);
            if (text)
                (void)setLimitText(*text, limit); // a newer pinfoldd can send a word that this version of pinfold does not know
        }
    });
    return limits;
}

Dict toDict(const Allocation& allocation) {
    Dict dict;
    if (!allocation.cpus.empty())
        put(dict, "allocated_cpus", allocation.cpus.toString());
    if (!allocation.gpus.empty())
        put(dict, "allocated_gpus", allocation.gpus.toString());
    put(dict, "exclusive", allocation.exclusive);
    return dict;
}

Allocation allocationFrom(const Dict& dict) {
    Allocation allocation;
    for (const auto& [name, member] : {std::pair{"allocated_cpus", &allocation.cpus}, {"allocated_gpus", &allocation.gpus}}) {
        std::string text;
        take(dict, name, text);
        if (const auto numbers = CpuList::parse(text))
            *member = *numbers;
    }
    take(dict, "exclusive", allocation.exclusive);
    take(dict, "environment", allocation.environment);
    return allocation;
}

Dict toDict(const JobIdentity& identity) {
    Dict dict;
    forEachIdentityField(identity, [&dict](const char* name, const auto& member) {
        if (isSet(member))
            put(dict, name, member);
    });
    return dict;
}

JobIdentity identityFrom(const Dict& dict) {
    JobIdentity identity;
    forEachIdentityField(identity, [&dict](const char* name, auto& member) { take(dict, name, member); });
    return identity;
}

Dict toDict(const Usage& usage) {
    Dict dict;
    forEachUsage(usage, [&dict](const char* name, const auto& value) { put(dict, name, value); });
    std::vector<DeviceIoStruct> devices;
    devices.reserve(usage.ioDevices.size());
    for (const auto& io : usage.ioDevices)
        devices.emplace_back(io.device, io.read, io.written, io.reads, io.writes);
    if (usage.ioRead)
        put(dict, "io_devices", devices);
    return dict;
}

Usage usageFrom(const Dict& dict) {
    Usage usage;
    forEachUsage(usage, [&dict](const char* name, auto& value) { take(dict, name, value); });
    std::vector<DeviceIoStruct> devices;
    take(dict, "io_devices", devices);
    for (const auto& io : devices)
        usage.ioDevices.push_back({std::get<0>(io), std::get<1>(io), std::get<2>(io), std::get<3>(io), std::get<4>(io)});
    return usage;
}

Dict oomNews(const OomVerdict& verdict) {
    Dict dict;
    put(dict, "oom_cause", std::string(toString(verdict.cause)));
    put(dict, "oom_at", verdict.at);
    return dict;
}

Dict toDict(const OomVerdict& verdict) {
    auto dict = oomNews(verdict);
    forEachOomDetail(verdict, [&dict](const char* name, const auto& value) { put(dict, name, value); });
    return dict;
}

std::optional<OomVerdict> oomFrom(const Dict& dict) {
    std::string word;
    take(dict, "oom_cause", word);
    const auto cause = oomCauseFromString(word);
    if (!cause)
        return std::nullopt;
    OomVerdict verdict;
    verdict.cause = *cause;
    take(dict, "oom_at", verdict.at);
    forEachOomDetail(verdict, [&dict](const char* name, auto& value) { take(dict, name, value); });
    return verdict;
}

Dict toDict(const Receipt& receipt) {
    auto dict = toDict(receipt.usage);
    forEachReceiptField(receipt, [&dict](const char* name, const auto& value) { put(dict, name, value); });
    dict.merge(toDict(receipt.limits));
    dict.merge(toDict(receipt.allocation));
    dict.merge(toDict(receipt.identity));
    if (receipt.oom)
        dict.merge(toDict(*receipt.oom));
    std::vector<Dict> tasks;
    tasks.reserve(receipt.taskList.size());
    for (const auto& task : receipt.taskList)
        tasks.push_back(toDict(task));
    put(dict, "task_list", tasks);
    return dict;
}

Dict toDictWithProfile(const Receipt& receipt) {
    auto dict = toDict(receipt);
    if (!receipt.profile.empty())
        put(dict, "profile", Bytes(receipt.profile.begin(), receipt.profile.end()));
    return dict;
}

Receipt receiptFrom(const Dict& dict) {
    Receipt receipt;
    forEachReceiptField(receipt, [&dict](const char* name, auto& value) { take(dict, name, value); });
    receipt.usage = usageFrom(dict);
    if (auto oom = oomFrom(dict))
        receipt.oom = std::move(*oom);
    receipt.limits = limitsFrom(dict);
    receipt.allocation = allocationFrom(dict);
    receipt.identity = identityFrom(dict);
    std::vector<Dict> tasks;
    take(dict, "task_list", tasks);
    for (const auto& task : tasks)
        receipt.taskList.push_back(taskFrom(task));
    Bytes profile;
    take(dict, "profile", profile);
    receipt.profile.assign(profile.begin(), profile.end());
    return receipt;
}

} // namespace pinfold
