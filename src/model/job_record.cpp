// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/job_record.hpp"

#include "model/json_parts.hpp"

#include <algorithm>

namespace pinfold {
namespace {

constexpr int kRecordVersion = 1;

Json toJson(const std::optional<ProcessIdentity>& process) {
    if (!process)
        return nullptr;
    return {{"pid", process->pid}, {"started", process->started}};
}

std::optional<ProcessIdentity> processFromJson(const Json& json) {
    if (json.is_null())
        return std::nullopt;
    return ProcessIdentity{json.at("pid").get<pid_t>(), json.at("started").get<BootTime>()};
}

/// Converts a task to JSON. An earlier pinfoldd wrote only the members `number` and `leader`. If pinfoldd decodes and encodes a
/// record of an earlier pinfoldd, the text must stay the same. encode() always writes the members `number` and `leader`, as
/// earlier versions of pinfoldd did. encode() omits each unset member of a task, except `number` and `leader`.
Json toJson(std::uint32_t number, const TaskRecord& task) {
    Json json{{"number", number}, {"leader", toJson(task.leader)}};
    if (task.supervisor)
        json["supervisor"] = toJson(task.supervisor);
    if (task.shepherd)
        json["shepherd"] = true;
    if (task.leftoversListed)
        json["leftovers_listed"] = true;
    return json;
}

TaskRecord taskFromJson(const Json& json) {
    return {processFromJson(json.at("leader")),
            json.contains("supervisor") ? processFromJson(json.at("supervisor")) : std::nullopt, json.value("shepherd", false),
            json.value("leftovers_listed", false)};
}

void putTaskLog(Json& json, const Boxed<std::vector<LoggedTask>>& log) {
    if (!log) // earlier versions of pinfoldd refuse a record with the member `task_log`
        return;
    auto list = Json::array();
    for (const auto& task : *log) {
        auto entry = taskToJson(task.receipt, Unset::LeftOut);
        if (task.leader != 0)
            put(entry, "leader", task.leader);
        if (task.over)
            put(entry, "over", true);
        list.push_back(std::move(entry));
    }
    put(json, "task_log", std::move(list));
}

void takeTaskLog(const Json& json, Boxed<std::vector<LoggedTask>>& log) {
    const auto list = json.find("task_log");
    if (list == json.end())
        return;
    log.emplace();
    for (const auto& entry : *list) {
        auto& task = log->emplace_back();
        takeTask(entry, task.receipt);
        task.leader = entry.value("leader", pid_t{0});
        task.over = entry.value("over", false);
    }
}

void putFigures(Json& json, const Boxed<FinalFigures>& figures) {
    if (!figures)
        return;
    Json object{{"ended", figures->ended}, {"wall", figures->wall}};
    put(object, "user", optionalToJson(figures->user), Unset::LeftOut);
    putUsage(object, figures->usage, isOfReceipts, Unset::LeftOut);
    put(json, "figures", std::move(object));
}

void takeFigures(const Json& json, Boxed<FinalFigures>& figures) {
    const auto taken = json.find("figures");
    if (taken == json.end())
        return;
    figures.emplace();
    figures->ended = taken->at("ended").get<RealTime>();
    figures->wall = taken->at("wall").get<Microseconds>();
    optionalFromJson(*taken, "user", figures->user);
    takeUsage(*taken, figures->usage);
}

JobRecord recordFromJson(const Json& json) {
    if (json.at("version").get<int>() != kRecordVersion)
        throw std::invalid_argument("version " + dump(json.at("version")) + ", this pinfoldd knows version 1");
    auto key = JobKey::parse(json.at("key").get<std::string>());
    if (!key)
        throw std::invalid_argument(key.error().message);
    JobRecord record(json.at("id").get<std::string>(), json.at("boot_id").get<std::string>(), std::move(*key));
    record.state = required(jobStateFromString(json.at("state").get<std::string>()), "state");
    record.uid = json.at("uid").get<uid_t>();
    record.created = json.at("created").get<RealTime>();
    record.createdBoot = json.at("created_boot").get<BootTime>();
    takeStoredLimits(json.at("limits"), record.limits);
    record.limitsNotEnforced = json.value("limits_not_enforced", record.limitsNotEnforced);
    takeAllocation(json, record.allocation);
    record.allocation.reserved = numbersFromJson(json, "reserved_cpus");
    record.allocation.environment = json.value("environment", record.allocation.environment);
    optionalFromJson(json, "slots", record.slots);
    if (const auto identity = json.find("identity"); identity != json.end())
        takeIdentity(*identity, record.identity);
    optionalFromJson(json, "limits_forced_by", record.limitsForcedBy);
    optionalFromJson(json, "suspended_since", record.suspendedSince);
    record.suspended = json.value("suspended", Microseconds(0));
    record.oomKills = json.value("oom_kills", std::uint64_t{0});
    takeOom(json, record.oom);
    record.oomSaid = json.value("oom_said", false);
    optionalFromJson(json, "run_time_warned", record.runTimeWarned);
    optionalFromJson(json, "memory_warned", record.memoryWarned);
    record.supervisor = processFromJson(json.at("supervisor"));
    record.ownersBatch = json.value("owners_batch", false);
    for (const auto& task : json.at("tasks"))
        record.tasks[task.at("number").get<std::uint32_t>()] = taskFromJson(task);
    takeTaskLog(json, record.taskLog);
    optionalFromJson(json, "linger", record.linger);
    optionalFromJson(json, "report_within", record.reportWithin);
    record.nextTask = json.at("next_task").get<std::uint32_t>();
    record.neverRan = json.value("never_ran", false);
    if (const auto& cause = json.at("cause"); !cause.is_null())
        record.cause = required(jobResultFromString(cause.get<std::string>()), "cause");
    optionalFromJson(json, "grace", record.grace);
    takeEnd(json, record);
    record.leftoversListed = json.value("leftovers_listed", false);
    optionalFromJson(json, "unkillable_since", record.unkillableSince);
    record.unkillableInFuse = json.value("unkillable_in_fuse", false);
    takeFigures(json, record.figures);
    return record;
}

/// Returns true if pinfoldd has understood everything in the record `written`. `understood` can have more members than
/// `written`, because an earlier pinfoldd wrote fewer members. A member that is null in `written` can be missing in
/// `understood`. An earlier pinfoldd wrote null for a member without a value.
bool saysTheSame(const Json& written, const Json& understood) {
    if (!written.is_object() || !understood.is_object())
        return written == understood;
    for (const auto& [name, value] : written.items())
        if (understood.contains(name) ? !saysTheSame(value, understood.at(name)) : !value.is_null())
            return false;
    return true;
}

} // namespace

bool endSuspension(JobRecord& record, BootTime now) {
    if (!record.suspendedSince)
        return false;
    record.suspended += timeBetween(*record.suspendedSince, now);
    record.suspendedSince.reset();
    return true;
}

std::string encode(const JobRecord& record) {
    Json json;
    put(json, "version", kRecordVersion);
    put(json, "id", record.id);
    put(json, "boot_id", record.bootId);
    put(json, "key", record.key.text());
    put(json, "state", toString(record.state));
    put(json, "uid", record.uid);
    put(json, "created", record.created);
    put(json, "created_boot", record.createdBoot);
    auto limits = Json::object();
    putLimits(limits, record.limits, Unset::LeftOut);
    put(json, "limits", std::move(limits));
    if (!record.limitsNotEnforced.empty()) // earlier versions of pinfoldd refuse `limits_not_enforced`
        put(json, "limits_not_enforced", record.limitsNotEnforced);
    putAllocation(json, record.allocation, Unset::LeftOut);
    put(json, "reserved_cpus", numbersToJson(record.allocation.reserved), Unset::LeftOut);
    put(json, "environment", record.allocation.environment);
    if (record.slots) // earlier versions of pinfoldd refuse a record with the member `slots`
        put(json, "slots", *record.slots);
    if (record.identity != JobIdentity{}) { // earlier versions of pinfoldd refuse the member `identity`
        auto identity = Json::object();
        putIdentity(identity, record.identity);
        put(json, "identity", std::move(identity));
    }
    put(json, "limits_forced_by", optionalToJson(record.limitsForcedBy), Unset::LeftOut);
    put(json, "suspended_since", optionalToJson(record.suspendedSince), Unset::LeftOut);
    put(json, "suspended", record.suspended);
    put(json, "oom_kills", record.oomKills);
    putOom(json, record.oom, Unset::LeftOut);
    put(json, "oom_said", record.oomSaid);
    if (record.runTimeWarned) // earlier versions of pinfoldd refuse a record with the member `run_time_warned`
        put(json, "run_time_warned", *record.runTimeWarned);
    if (record.memoryWarned) // earlier versions of pinfoldd refuse a record with the member `memory_warned`
        put(json, "memory_warned", *record.memoryWarned);
    put(json, "supervisor", toJson(record.supervisor));
    if (record.ownersBatch) // earlier versions of pinfoldd refuse a record with the member `owners_batch`
        put(json, "owners_batch", true);
    auto tasks = Json::array();
    for (const auto& [number, task] : record.tasks)
        tasks.push_back(toJson(number, task));
    put(json, "tasks", std::move(tasks));
    putTaskLog(json, record.taskLog);
    put(json, "linger", optionalToJson(record.linger), Unset::LeftOut);
    if (record.reportWithin) // earlier versions of pinfoldd refuse a record with the member `report_within`
        put(json, "report_within", *record.reportWithin);
    put(json, "next_task", record.nextTask);
    if (record.neverRan) // earlier versions of pinfoldd refuse a record with the member `never_ran`
        put(json, "never_ran", true);
    put(json, "cause", record.cause ? Json(toString(*record.cause)) : Json(nullptr));
    put(json, "grace", optionalToJson(record.grace), Unset::LeftOut);
    putEnd(json, record, Unset::LeftOut);
    put(json, "leftovers_listed", record.leftoversListed);
    put(json, "unkillable_since", optionalToJson(record.unkillableSince), Unset::LeftOut);
    if (record.unkillableInFuse) // earlier versions of pinfoldd refuse a record with the member `unkillable_in_fuse`
        put(json, "unkillable_in_fuse", true);
    putFigures(json, record.figures);
    return dump(json) + "\n";
}

Result<JobRecord> decodeJobRecord(std::string_view text) {
    auto record = decode<JobRecord>(text, "record", recordFromJson);
    if (!record)
        return record;
    // get<T>() wraps and truncates numbers without an error, and recordFromJson() ignores unknown or repeated members. To detect
    // wrong numbers and unknown members, decodeJobRecord() encodes the record again, and compares the result with `text`. Without
    // the comparison with `text`, decodeJobRecord() would read the user id 2^32 as 0, the user id of root.
    const auto written = parseJson(text);
    if (dump(written) + "\n" != text || !saysTheSame(written, parseJson(encode(*record))))
        return Error{ErrorCode::InvalidArgument, "the record cannot be read: pinfoldd did not write it in this form"};
    return record;
}

} // namespace pinfold
