// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/codec.hpp"

#include "base/escape.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <fcntl.h>

#include <csignal>
#include <functional>
#include <type_traits>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kMaxText = 65'536;
constexpr std::uint64_t kMaxGrace = 3'600'000'000;
constexpr std::uint64_t kMaxReceipts = 10'000;

Error invalid(const std::string& what) { return {ErrorCode::InvalidArgument, what}; }

/// Returns a std::string, because sdbus-c++ 2.x returns a pointer, and == would compare addresses.
std::string typeOf(const sdbus::Variant& value) { return value.peekValueType(); }

/// Accepts every integer type that a client's language makes of a number.
Result<std::uint64_t> toNumber(const std::string& name, const sdbus::Variant& value) {
    const auto type = typeOf(value);
    std::int64_t number = 0;
    if (type == "t")
        return value.get<std::uint64_t>();
    if (type == "u")
        return value.get<std::uint32_t>();
    if (type == "q")
        return value.get<std::uint16_t>();
    if (type == "y")
        return value.get<std::uint8_t>();
    if (type == "x")
        number = value.get<std::int64_t>();
    else if (type == "i")
        number = value.get<std::int32_t>();
    else if (type == "n")
        number = value.get<std::int16_t>();
    else
        return invalid("entry '" + name + "' has type " + type + ": a number is expected");
    if (number < 0)
        return invalid("entry '" + name + "' is negative: " + std::to_string(number));
    return static_cast<std::uint64_t>(number);
}

Result<std::uint64_t> toNumber(const std::string& name, const sdbus::Variant& value, std::uint64_t least, std::uint64_t most) {
    auto number = toNumber(name, value);
    if (number && (*number < least || *number > most))
        return invalid("entry '" + name + "' is " + std::to_string(*number) + ": use " + std::to_string(least) + " to " +
                       std::to_string(most));
    return number;
}

Result<std::string> toText(const std::string& name, const sdbus::Variant& value) {
    if (typeOf(value) != "s")
        return invalid("entry '" + name + "' has type " + typeOf(value) + ": a string is expected");
    auto text = value.get<std::string>();
    if (text.size() > kMaxText)
        return invalid("entry '" + name + "' is longer than 64 KiB: use a shorter string");
    return text;
}

Result<void> readFlag(const std::string& name, const sdbus::Variant& value, bool& flag) {
    if (typeOf(value) != "b")
        return invalid("entry '" + name + "' has type " + typeOf(value) + ": a boolean is expected");
    flag = value.get<bool>();
    return {};
}

Result<void> readResult(const sdbus::Variant& value, std::optional<std::string>& result) {
    auto text = toText("result", value);
    if (!text)
        return text.error();
    if (!jobResultFromString(*text)) {
        std::string known;
        for (const auto& name : jobResultNames())
            known += (known.empty() ? "" : ", ") + name;
        return invalid("entry 'result' is '" + printable(*text, 100) + "': use one of " + known);
    }
    result = std::move(*text);
    return {};
}

Result<void> readScheduler(const sdbus::Variant& value, std::optional<std::string>& scheduler) {
    auto text = toText("scheduler", value);
    if (!text)
        return text.error();
    if (!isSchedulerName(*text))
        return invalid("entry 'scheduler' is '" + printable(*text, 100) + "': use lower case letters and digits");
    scheduler = std::move(*text);
    return {};
}

template <class T> Result<void> assign(Result<std::uint64_t> number, std::optional<T>& member) {
    if (!number)
        return number.error();
    member = static_cast<T>(*number);
    return {};
}

Result<void> assign(Result<std::string> text, std::optional<std::string>& member) {
    if (!text)
        return text.error();
    member = std::move(*text);
    return {};
}

using EntryReader = std::function<Result<void>(const sdbus::Variant&)>;

/// Passes each entry to its reader, and refuses an entry without a reader.
Result<void> readEntries(const Dict& dict, const std::map<std::string, EntryReader>& readers) {
    for (const auto& [name, value] : dict) {
        const auto reader = readers.find(name);
        if (reader == readers.end())
            return invalid("unknown entry '" + printable(name, 100) + "': see org.pinfold1(5)");
        if (auto read = reader->second(value); !read)
            return read;
    }
    return {};
}

template <class T> EntryReader readerOf(const char* name, std::optional<T>& member) {
    return [name, &member](const sdbus::Variant& value) -> Result<void> {
        if constexpr (kIsNumber<std::optional<T>>) {
            return assign(toNumber(name, value), member);
        } else {
            const auto text = toText(name, value);
            return text ? setLimitText(*text, member) : Result<void>(text.error());
        }
    };
}

EntryReader readerOf(const char* name, bool& member) {
    return [name, &member](const sdbus::Variant& value) { return readFlag(name, value, member); };
}

template <class Fd>
requires std::is_constructible_v<Fd, UniqueFd> EntryReader readerOf(const char* name, Fd& member) {
    return [name, &member](const sdbus::Variant& value) -> Result<void> {
        if (typeOf(value) != "h")
            return invalid("entry '" + std::string(name) + "' has type " + typeOf(value) + ": a descriptor (h) is expected");
        member = Fd(takeFd(value.get<sdbus::UnixFd>()));
        return {};
    };
}

void addAllocationReaders(std::map<std::string, EntryReader>& readers, AllocationRequest& request) {
    forEachAllocationRequest(request, [&readers](const char* name, auto& member) { readers[name] = readerOf(name, member); });
    readers["exclusive"] = readerOf("exclusive", request.exclusive);
}

void addLimitReaders(std::map<std::string, EntryReader>& readers, ResourceLimits& limits) {
    forEachLimit(limits, [&readers](const LimitRow& row, auto& limit) { readers[row.name] = readerOf(row.name, limit); });
}

/// Adds the readers that CreateJob and OpenJob share.
void addJobReaders(std::map<std::string, EntryReader>& readers, CreateRequest& request) {
    readers["uid"] = [&](const sdbus::Variant& value) {
        return assign(toNumber("uid", value, 0, UINT32_MAX - 1), request.owner);
    };
    readers["slots"] = readerOf("slots", request.slots);
    readers["report_within"] = [&](const sdbus::Variant& value) {
        return assign(toNumber("report_within", value, 0, kMaxGrace), request.reportWithin);
    };
    addLimitReaders(readers, request.limits);
    addAllocationReaders(readers, request.allocation);
}

template <class T> void put(Dict& dict, const char* name, const std::optional<T>& value) {
    if (value)
        dict.emplace(name, sdbus::Variant(*value));
}

template <class T> void put(Dict& dict, const char* name, const T& value) { dict.emplace(name, sdbus::Variant(value)); }

} // namespace

Result<void> decodeCreateOptions(const Dict& options, CreateRequest& request) {
    std::map<std::string, EntryReader> readers;
    readers["supervisor"] = readerOf("supervisor", request.supervisor);
    readers["output"] = readerOf("output", request.output);
    readers["shepherd"] = readerOf("shepherd", request.shepherd);
    addJobReaders(readers, request);
    return readEntries(options, readers);
}

Result<void> decodeOpenOptions(const Dict& options, CreateRequest& request) {
    std::map<std::string, EntryReader> readers;
    readers["linger"] = readerOf("linger", request.linger);
    addJobReaders(readers, request);
    return readEntries(options, readers);
}

Result<void> decodeTaskOptions(const Dict& options, TaskRequest& request) {
    return readEntries(options, {{"batch", readerOf("batch", request.batch)},
                                 {"supervisor", readerOf("supervisor", request.supervisor)},
                                 {"output", readerOf("output", request.output)},
                                 {"shepherd", readerOf("shepherd", request.shepherd)}});
}

Result<EndReport> decodeEndOptions(const Dict& options) {
    EndReport report;
    auto read = readEntries(
        options,
        {
            {"exit_status",
             [&](const sdbus::Variant& v) { return assign(toNumber("exit_status", v, 0, 255), report.exit.status); }},
            {"exit_signal",
             [&](const sdbus::Variant& v) { return assign(toNumber("exit_signal", v, 1, SIGRTMAX), report.exit.signal); }},
            {"leader", [&](const sdbus::Variant& v) { return assign(toNumber("leader", v, 2, INT32_MAX), report.leader); }},
        });
    if (!read)
        return read.error();
    if (report.exit.status && report.exit.signal)
        return invalid("exit_status and exit_signal exclude each other: give one of them");
    return report;
}

Result<ResourceLimits> decodeLimits(const Dict& options) {
    ResourceLimits limits;
    std::map<std::string, EntryReader> readers;
    addLimitReaders(readers, limits);
    auto read = readEntries(options, readers);
    return read ? Result<ResourceLimits>(std::move(limits)) : Result<ResourceLimits>(read.error());
}

Result<bool> decodeFlag(const Dict& options, const char* name) {
    bool flag = false;
    auto read = readEntries(options, {{name, readerOf(name, flag)}});
    return read ? Result<bool>(flag) : Result<bool>(read.error());
}

Result<void> decodeNoOptions(const Dict& options) { return readEntries(options, {}); }

Result<std::optional<std::uint64_t>> decodeStopOptions(const Dict& options) {
    std::optional<std::uint64_t> grace;
    auto read = readEntries(
        options, {{"grace", [&](const sdbus::Variant& v) { return assign(toNumber("grace", v, 0, kMaxGrace), grace); }}});
    if (!read)
        return read.error();
    return grace;
}

Result<ReceiptFilter> decodeReceiptFilter(const Dict& filter) {
    ReceiptFilter decoded;
    std::optional<std::uint32_t> limit;
    bool failed = false;
    bool unknown = false;
    auto read = readEntries(
        filter, {
                    {"key", [&](const sdbus::Variant& v) { return assign(toText("key", v), decoded.key); }},
                    {"before", [&](const sdbus::Variant& v) { return assign(toText("before", v), decoded.before); }},
                    {"uid", [&](const sdbus::Variant& v) { return assign(toNumber("uid", v, 0, UINT32_MAX - 1), decoded.uid); }},
                    {"since", [&](const sdbus::Variant& v) { return assign(toNumber("since", v, 0, INT64_MAX), decoded.since); }},
                    {"until", [&](const sdbus::Variant& v) { return assign(toNumber("until", v, 0, INT64_MAX), decoded.until); }},
                    {"limit", [&](const sdbus::Variant& v) { return assign(toNumber("limit", v, 1, kMaxReceipts), limit); }},
                    {"result", [&](const sdbus::Variant& v) { return readResult(v, decoded.result); }},
                    {"scheduler", [&](const sdbus::Variant& v) { return readScheduler(v, decoded.scheduler); }},
                    {"failed", [&](const sdbus::Variant& v) { return readFlag("failed", v, failed); }},
                    {"unknown", [&](const sdbus::Variant& v) { return readFlag("unknown", v, unknown); }},
                    {"leftovers", [&](const sdbus::Variant& v) { return readFlag("leftovers", v, decoded.leftoversOnly); }},
                });
    if (!read)
        return read.error();
    if (limit)
        decoded.limit = *limit;
    if (failed)
        decoded.outcomes.push_back(JobOutcome::Failed);
    if (unknown)
        decoded.outcomes.push_back(JobOutcome::Unknown);
    return decoded;
}

Result<Retention> decodeRetention(const Dict& options) {
    Retention retention;
    auto read = readEntries(
        options, {
                     {"max_age", [&](const sdbus::Variant& v) { return assign(toNumber("max_age", v), retention.maxAge); }},
                     {"max_size", [&](const sdbus::Variant& v) { return assign(toNumber("max_size", v), retention.maxBytes); }},
                 });
    return read ? Result<Retention>(retention) : Result<Retention>(read.error());
}

Dict encodeLimits(const ResourceLimits& limits) {
    Dict dict;
    forEachLimit(limits, [&dict](const LimitRow& row, const auto& limit) {
        if constexpr (kIsNumber<decltype(limit)>)
            put(dict, row.name, limit);
        else if (limit)
            put(dict, row.name, limitText(*limit));
    });
    return dict;
}

Dict encodeUsage(const Usage& usage) {
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

Dict encodeOomNews(const OomVerdict& verdict) {
    Dict dict;
    put(dict, "oom_cause", std::string(toString(verdict.cause)));
    put(dict, "oom_at", verdict.at);
    return dict;
}

Dict encodeOom(const OomVerdict& verdict) {
    auto dict = encodeOomNews(verdict);
    forEachOomDetail(verdict, [&dict](const char* name, const auto& value) { put(dict, name, value); });
    return dict;
}

Dict encodeAllocation(const Allocation& allocation) {
    Dict dict;
    if (!allocation.cpus.empty())
        put(dict, "allocated_cpus", allocation.cpus.toString());
    if (!allocation.gpus.empty())
        put(dict, "allocated_gpus", allocation.gpus.toString());
    put(dict, "exclusive", allocation.exclusive);
    return dict;
}

Dict encodeSummary(const JobSummary& job) {
    Dict dict;
    put(dict, "key", job.key.text());
    put(dict, "job", sdbus::ObjectPath(job.key.objectPath()));
    put(dict, "state", std::string(toString(shownState(job))));
    put(dict, "uid", static_cast<std::uint32_t>(job.uid));
    put(dict, "slice", job.key.sliceName());
    put(dict, "unit", job.key.scopeName(0));
    put(dict, "leader", static_cast<std::uint32_t>(job.leader));
    put(dict, "created", job.created);
    put(dict, "tasks", static_cast<std::uint32_t>(job.tasks.size()));
    put(dict, "unkillable_since", job.unkillableSince);
    if (job.unkillableSince)
        put(dict, "unkillable_in_fuse", job.unkillableInFuse);
    return dict;
}

Dict encodeProcess(const JobProcess& process) {
    Dict dict;
    put(dict, "pid", static_cast<std::uint32_t>(process.pid));
    put(dict, "task", process.task);
    put(dict, "uid", static_cast<std::uint32_t>(process.uid));
    put(dict, "started", process.started);
    put(dict, "cpu", process.cpu);
    put(dict, "rss", process.rss);
    put(dict, "state", std::string(1, process.state));
    put(dict, "wait_point", process.waitPoint);
    put(dict, "command", process.command);
    return dict;
}

Dict encodeReceipt(const Receipt& receipt) {
    auto dict = encodeUsage(receipt.usage);
    dict.merge(encodeLimits(receipt.limits));
    put(dict, "limits_not_enforced", receipt.limitsNotEnforced);
    dict.merge(encodeAllocation(receipt.allocation));
    if (receipt.oom)
        dict.merge(encodeOom(*receipt.oom));
    put(dict, "id", receipt.id);
    put(dict, "key", receipt.key);
    put(dict, "uid", receipt.uid);
    put(dict, "started", receipt.started);
    put(dict, "ended", receipt.ended);
    put(dict, "wall", receipt.wall);
    put(dict, "suspended", receipt.suspended);
    put(dict, "result", std::string(toString(receipt.result)));
    put(dict, "exit_status", receipt.exit.status);
    put(dict, "exit_signal", receipt.exit.signal);
    put(dict, "stopped_by", receipt.stoppedBy);
    put(dict, "tasks", static_cast<std::uint32_t>(receipt.tasks));
    put(dict, "leftovers", static_cast<std::uint32_t>(receipt.leftovers.count));
    put(dict, "leftover_cpu", receipt.leftovers.cpu);
    put(dict, "leftover_commands", receipt.leftovers.commands);
    return dict;
}

UniqueFd takeFd(const sdbus::UnixFd& fd) { return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 3)); }

sdbus::Error toBusError(const Error& error) {
    return bus::makeError(std::string(kDbusErrorPrefix) + std::string(errorRow(error.code).dbusName), error.message);
}

} // namespace pinfold
