// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_values/request_dict.hpp"

#include "base/escape.hpp"
#include "base/word_list.hpp"
#include "model/job_key.hpp"
#include "model/limit_table.hpp"

#include <algorithm>
#include <csignal>
#include <type_traits>

namespace pinfold {
namespace {

constexpr std::uint64_t kMaxReceipts = 10'000;

Result<void> readResult(const sdbus::Variant& value, std::optional<std::string>& result) {
    auto text = toText("result", value);
    if (!text)
        return text.error();
    if (!jobResultFromString(*text))
        return Error{ErrorCode::InvalidArgument,
                     "entry 'result' is '" + printable(*text, 100) + "': use " + enumerated(jobResultNames())};
    result = std::move(*text);
    return {};
}

Result<void> readScheduler(const sdbus::Variant& value, std::optional<std::string>& scheduler) {
    auto text = toText("scheduler", value);
    if (!text)
        return text.error();
    if (!isSchedulerName(*text))
        return Error{ErrorCode::InvalidArgument,
                     "entry 'scheduler' is '" + printable(*text, 100) + "': use lower case letters and digits"};
    scheduler = std::move(*text);
    return {};
}

Result<void> readLabel(const sdbus::Variant& value, std::optional<LabelFilter>& label) {
    auto text = toText("label", value);
    if (!text)
        return text.error();
    auto read = labelFilter(*text);
    if (!read)
        return Error{ErrorCode::InvalidArgument, "entry 'label': " + read.error().message};
    label = *std::move(read);
    return {};
}

} // namespace

void addLimitReaders(EntryReaders& readers, ResourceLimits& limits) {
    forEachLimit(limits, [&readers](const LimitRow& row, auto& limit) { readers[row.name] = readerOf(row.name, limit); });
}

Result<ResourceLimits> readLimits(const Dict& options) {
    ResourceLimits limits;
    EntryReaders readers;
    addLimitReaders(readers, limits);
    auto read = readEntries(options, readers);
    return read ? Result<ResourceLimits>(std::move(limits)) : Result<ResourceLimits>(read.error());
}

Dict toDict(const AllocationRequest& request) {
    Dict dict;
    forEachAllocationRequest(request, [&dict](const char* name, const auto& member) {
        if constexpr (kIsNumber<decltype(member)>)
            put(dict, name, member);
        else if (member)
            put(dict, name, limitText(*member));
    });
    if (request.exclusive)
        put(dict, "exclusive", true);
    return dict;
}

void addAllocationReaders(EntryReaders& readers, AllocationRequest& request) {
    forEachAllocationRequest(request, [&readers](const char* name, auto& member) { readers[name] = readerOf(name, member); });
    readers["exclusive"] = readerOf("exclusive", request.exclusive);
}

void addIdentityReaders(EntryReaders& readers, JobIdentity& identity) {
    forEachIdentityField(identity, [&readers](const char* name, auto& member) {
        if constexpr (std::is_same_v<decltype(member), std::optional<std::string>&>) // any text is a valid value
            readers[name] = [name, &member](const sdbus::Variant& value) { return assign(toText(name, value), member); };
        else
            readers[name] = readerOf(name, member);
    });
}

Dict toDict(const ReceiptFilter& filter) {
    Dict dict;
    put(dict, "key", filter.key);
    put(dict, "uid", filter.uid);
    put(dict, "since", filter.since);
    put(dict, "until", filter.until);
    put(dict, "before", filter.before);
    put(dict, "limit", filter.limit);
    put(dict, "result", filter.result);
    put(dict, "scheduler", filter.scheduler);
    put(dict, "after", filter.after);
    put(dict, "epoch", filter.epoch);
    if (filter.label)
        put(dict, "label", filter.label->name + (filter.label->value ? "=" + *filter.label->value : ""));
    for (const auto& [outcome, name] : {std::pair{JobOutcome::Failed, "failed"}, {JobOutcome::Unknown, "unknown"}})
        if (std::ranges::find(filter.outcomes, outcome) != filter.outcomes.end())
            put(dict, name, true);
    if (filter.leftoversOnly)
        put(dict, "leftovers", true);
    if (filter.profiles)
        put(dict, "profiles", true);
    return dict;
}

Result<ReceiptFilter> readReceiptFilter(const Dict& options) {
    ReceiptFilter filter;
    std::optional<std::uint32_t> limit;
    bool failed = false;
    bool unknown = false;
    auto read = readEntries(
        options, {
                     {"key", [&](const sdbus::Variant& v) { return assign(toText("key", v), filter.key); }},
                     {"before", [&](const sdbus::Variant& v) { return assign(toText("before", v), filter.before); }},
                     {"uid", [&](const sdbus::Variant& v) { return assign(toNumber("uid", v, 0, UINT32_MAX - 1), filter.uid); }},
                     {"since", [&](const sdbus::Variant& v) { return assign(toNumber("since", v, 0, INT64_MAX), filter.since); }},
                     {"until", [&](const sdbus::Variant& v) { return assign(toNumber("until", v, 0, INT64_MAX), filter.until); }},
                     {"limit", [&](const sdbus::Variant& v) { return assign(toNumber("limit", v, 1, kMaxReceipts), limit); }},
                     {"result", [&](const sdbus::Variant& v) { return readResult(v, filter.result); }},
                     {"scheduler", [&](const sdbus::Variant& v) { return readScheduler(v, filter.scheduler); }},
                     {"after", [&](const sdbus::Variant& v) { return assign(toNumber("after", v, 0, INT64_MAX), filter.after); }},
                     {"epoch", [&](const sdbus::Variant& v) { return assign(toText("epoch", v), filter.epoch); }},
                     {"label", [&](const sdbus::Variant& v) { return readLabel(v, filter.label); }},
                     {"failed", readerOf("failed", failed)},
                     {"unknown", readerOf("unknown", unknown)},
                     {"leftovers", readerOf("leftovers", filter.leftoversOnly)},
                     {"profiles", readerOf("profiles", filter.profiles)},
                 });
    if (!read)
        return read.error();
    if (filter.before && filter.after)
        return Error{ErrorCode::InvalidArgument, "before and after exclude each other: use only one of them"};
    if (limit)
        filter.limit = *limit;
    if (failed)
        filter.outcomes.push_back(JobOutcome::Failed);
    if (unknown)
        filter.outcomes.push_back(JobOutcome::Unknown);
    return filter;
}

Dict toDict(const VacuumRequest& request) {
    Dict dict;
    put(dict, "max_age", request.retention.maxAge);
    put(dict, "max_size", request.retention.maxBytes);
    if (request.dryRun)
        put(dict, "dry_run", true);
    return dict;
}

Result<VacuumRequest> readVacuumRequest(const Dict& options) {
    VacuumRequest request;
    auto read = readEntries(options, {{"max_age", readerOf("max_age", request.retention.maxAge)},
                                      {"max_size", readerOf("max_size", request.retention.maxBytes)},
                                      {"dry_run", readerOf("dry_run", request.dryRun)}});
    return read ? Result<VacuumRequest>(request) : Result<VacuumRequest>(read.error());
}

Dict toDict(const ExitState& exit) {
    Dict dict;
    put(dict, "exit_status", exit.status);
    put(dict, "exit_signal", exit.signal);
    return dict;
}

void addExitReaders(EntryReaders& readers, ExitState& exit) {
    readers["exit_status"] = [&](const sdbus::Variant& v) { return assign(toNumber("exit_status", v, 0, 255), exit.status); };
    readers["exit_signal"] = [&](const sdbus::Variant& v) {
        return assign(toNumber("exit_signal", v, 1, SIGRTMAX), exit.signal);
    };
}

} // namespace pinfold
