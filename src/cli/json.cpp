// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"

#include "base/parse.hpp"
#include "build_config.hpp"
#include "cli/format.hpp"
#include "cli/json_document.hpp"
#include "model/json_parts.hpp"

#include <algorithm>
#include <cmath>

namespace pinfold {
namespace {

template <class T> Json orNull(const std::optional<T>& value) { return value ? Json(*value) : Json(nullptr); }

Json job(const JobInfo& info) {
    return {{"key", info.key},
            {"user", userName(info.uid)},
            {"uid", info.uid},
            {"state", toString(info.state)},
            {"tasks", info.tasks},
            {"leader", optionalToJson(info.leader)},
            {"slice", info.slice},
            {"unit", orNull(batchScope(info))},
            {"created", info.created},
            {"created_iso", formatUtc(info.created)},
            {"unkillable_since", optionalToJson(info.unkillableSince)},
            {"unkillable_in_fuse", info.unkillableInFuse}};
}

Json process(const JobProcess& entry) {
    return {{"pid", entry.pid},
            {"task", entry.task},
            {"user", userName(entry.uid)},
            {"uid", entry.uid},
            {"started", entry.started},
            {"started_iso", formatUtc(entry.started)},
            {"cpu", entry.cpu},
            {"rss", entry.rss},
            {"state", entry.state},
            {"wait_point", optionalToJson(entry.waitPoint)},
            {"command", entry.command}};
}

Json limits(const ResourceLimits& values) {
    Json json = Json::object();
    putLimits(json, values);
    return json;
}

Json topRow(const TopRow& row) {
    auto json = job(row.job);
    json["age"] = row.age;
    json["cpu_percent"] = orNull(row.cpu);
    json["cpu_percent_of_allowed"] = orNull(row.cpuOfAllowed);
    json["cpu_time"] = orNull(row.cpuTime);
    json["memory_current"] = orNull(row.memoryCurrent);
    json["memory_in_use"] = orNull(row.memory);
    json["memory_need"] = orNull(row.memoryNeed);
    json["page_cache"] = orNull(row.cache);
    json["memory_max"] = orNull(row.memoryMax);
    json["memory_peak"] = orNull(row.memoryPeak);
    json["io_read_rate"] = orNull(row.readRate);
    json["io_write_rate"] = orNull(row.writeRate);
    json["tasks_current"] = orNull(row.tasks);
    return json;
}

Json stray(const StrayRow& row) {
    return {{"pid", row.pid},
            {"user", userName(row.uid)},
            {"uid", row.uid},
            {"kind", toString(row.kind)},
            {"has_job", orNull(row.hasJob)},
            {"age", row.age},
            {"cpu", row.cpu},
            {"rss", row.rss},
            {"parent", row.parent},
            {"tty", orNull(row.tty)},
            {"unit", row.unit},
            {"cgroup", row.cgroup},
            {"command", row.command},
            {"actions", row.actions},
            {"spared", orNull(row.spared)},
            {"failure", orNull(row.failure)}};
}

Json jobDetail(const JobDetail& detail) {
    auto json = job(detail.job);
    json["limits"] = limits(detail.limits);
    json["limits_not_enforced"] = detail.limitsNotEnforced;
    putAllocation(json, detail.allocation);
    json["environment"] = detail.allocation.environment;
    json["slots"] = orNull(detail.slots);
    forEachIdentityField(detail.identity,
                         [&json](const char* name, const auto& member) { putMember(json, name, member, Unset::AsNull); });
    json["usage"] = nullptr;
    if (detail.usage) {
        json["usage"] = Json::object();
        putUsage(json["usage"], *detail.usage, [](const char*) { return true; });
    }
    json["processes"] = nullptr;
    if (detail.processes) {
        json["processes"] = Json::array();
        for (const auto& entry : *detail.processes)
            json["processes"].push_back(process(entry));
    }
    return json;
}

Json drain(const Drain& drain) {
    return {{"reason", drain.reason},
            {"since", orNull(drain.since)},
            {"since_iso", drain.since ? Json(formatUtc(*drain.since)) : Json(nullptr)},
            {"by_uid", orNull(drain.by)},
            {"by", drain.by ? Json(userName(*drain.by)) : Json(nullptr)}};
}

Json resources(const NodeResources& node) {
    Json json = Json::object();
    forEachResource(node, [&json](const std::string& resource, const NodeShare& share) {
        auto& entry = json[resource];
        forEachPart(share, [&](const char* part, const std::optional<std::uint64_t>& amount) {
            entry[part] = amount && resource == "cpus" ? Json(cpusOf(*amount)) : orNull(amount);
        });
        entry["unlimited_jobs"] = orNull(share.unlimitedJobs);
    });
    return json;
}

Json daemonMessage(const DaemonMessage& entry) {
    return {{"time", entry.time},
            {"time_iso", formatUtc(entry.time)},
            {"level", entry.isError ? "error" : "warning"},
            {"message", entry.message}};
}

Json properties(const std::vector<UnitProperty>& list) {
    Json json = Json::object();
    for (const auto& property : list)
        json[property.name] = std::visit([](const auto& value) { return Json(value); }, property.value);
    return json;
}

Json leftoverFile(const LeftoverFile& leftover) {
    const auto& file = leftover.file;
    return {{"kind", toString(file.kind)},
            {"path", file.ipc ? Json(nullptr) : Json(file.path)},
            {"ipc_id", file.ipc ? Json(file.ipc->id) : Json(nullptr)},
            {"ipc_key", file.ipc ? Json(file.ipc->key) : Json(nullptr)},
            {"user", userName(file.uid)},
            {"uid", file.uid},
            {"size", file.tree.size},
            {"entries", file.tree.entries},
            {"entries_of_others", leftover.others},
            {"born", optionalToJson(file.born)},
            {"born_iso", file.born ? Json(formatUtc(*file.born)) : Json(nullptr)},
            {"jobs", leftover.jobs.keys},
            {"jobs_total", leftover.jobs.count},
            {"kept", leftover.kept ? Json(toString(*leftover.kept)) : Json(nullptr)},
            {"removed", leftover.removed},
            {"error", orNull(leftover.error)}};
}

/// An attacker who has taken over a node can send any figures to the archive, even figures that are too large for std::llround().
long long rounded(double value) { return std::llround(std::min(value, 9e18)); }

Json curves(const Profile& profile) {
    Json lengths = Json::array();
    for (const auto& point : profile.points())
        lengths.push_back(point.length);
    Json json{{"lengths", std::move(lengths)}};
    for (const auto measure : kAllMeasures) {
        Json mean = Json::array();
        Json most = Json::array();
        for (const auto& point : profile.points()) {
            mean.push_back(rounded(point.meanOf(measure)));
            most.push_back(rounded(point.mostOf(measure)));
        }
        json[std::string(toString(measure))] = {{"mean", std::move(mean)}, {"max", std::move(most)}};
    }
    return json;
}

} // namespace

std::string jsonJobs(const std::vector<JobDetail>& jobs) {
    Json list = Json::array();
    for (const auto& one : jobs)
        list.push_back(job(one.job));
    return document({{"jobs", std::move(list)}});
}

std::string jsonJob(const JobDetail& detail) { return document({{"job", jobDetail(detail)}}); }

std::string jsonLimits(const std::string& key, const ResourceLimits& values, const Enforcement& enforcement) {
    return document({{"job", key},
                     {"limits", limits(values)},
                     {"limits_not_enforced", enforcement.notEnforced},
                     {"systemd_tasks_max", orNull(enforcement.systemdTasksMax)}});
}

std::string jsonProcesses(const std::vector<JobProcess>& processes) {
    Json list = Json::array();
    for (const auto& entry : processes)
        list.push_back(process(entry));
    return document({{"processes", std::move(list)}});
}

std::string jsonProfile(const std::string& key, const Profile& profile) {
    Json json{{"job", key}};
    json.update(curves(profile));
    return document(json);
}

std::string jsonProfiles(const std::string& key, const std::vector<HostProfile>& profiles) {
    Json list = Json::array();
    for (const auto& one : profiles) {
        Json json{{"host", one.host}, {"started", one.started}, {"started_iso", formatUtc(one.started)}};
        json.update(curves(one.profile));
        list.push_back(std::move(json));
    }
    return document({{"job", key}, {"hosts", std::move(list)}});
}

std::string jsonReconciliation(const Reconciliation& found) {
    Json json{{"clean", found.clean()}};
    forEachOrphanKind(found, [&json](const char* kind, const auto& names) { json[kind] = names; });
    return document(json);
}

std::string jsonVacuumed(const Vacuumed& done, bool dryRun) {
    return document({{"removed", done.removed}, {"bytes", done.bytes}, {"dry_run", dryRun}});
}

std::string jsonLeftoverFiles(const LeftoverListing& listing) {
    Json list = Json::array();
    for (const auto& leftover : listing.files)
        list.push_back(leftoverFile(leftover));
    Json gaps = Json::array();
    Json userGaps = Json::array();
    for (const auto& [user, what] : listing.gaps)
        user ? userGaps.push_back({{"user", userName(*user)}, {"uid", *user}, {"gap", what}}) : gaps.push_back(what);
    return document({{"files", std::move(list)}, {"gaps", std::move(gaps)}, {"gaps_of_users", std::move(userGaps)}});
}

std::string jsonNode(const NodeStatus& node, const std::optional<std::vector<JobDetail>>& details) {
    Json json{{"version", node.version},
              {"jobs", node.jobs.size()},
              {"states", jobsByState(node.jobs)},
              {"schedulers", jobsByScheduler(node.jobs)},
              {"draining", node.drain.has_value()},
              {"drain", node.drain ? drain(*node.drain) : Json(nullptr)},
              {"resources", resources(node.resources)},
              {"last_errors", nullptr}};
    if (node.lastErrors) {
        json["last_errors"] = Json::array();
        for (const auto& error : *node.lastErrors)
            json["last_errors"].push_back(daemonMessage(error));
    }
    if (details) {
        json["live"] = Json::array();
        for (const auto& detail : *details)
            json["live"].push_back(jobDetail(detail));
    }
    return document(json);
}

std::string jsonNotOver(const std::string& key) { return document({{"receipt", nullptr}, {"live", true}, {"key", key}}); }

std::string jsonConfigCheck(const Result<LoadedConfig>& loaded) {
    Json json{{"ok", loaded && loaded->warnings.empty()}, {"error", loaded ? Json(nullptr) : Json(loaded.error().message)}};
    json["files"] = Json::array();
    json["warnings"] = Json::array();
    if (loaded) {
        for (const auto& file : loaded->files)
            json["files"].push_back(file.string());
        json["warnings"] = loaded->warnings;
    }
    return document(json);
}

std::string jsonConfigValues(const std::vector<ConfigValue>& values) {
    Json list = Json::array();
    for (const auto& value : values)
        list.push_back({{"section", value.section},
                        {"key", value.key},
                        {"value", parseJson(value.json)},
                        {"file", value.file.string()},
                        {"line", value.line}});
    return document({{"values", std::move(list)}});
}

std::string jsonUnits(const StartRequest& request) {
    return document({{"slice", {{"name", request.slice}, {"properties", properties(request.sliceProperties)}}},
                     {"scope", {{"name", request.scope}, {"properties", properties(request.scopeProperties)}}}});
}

std::string jsonFindings(const std::vector<doctor::Finding>& findings) {
    const auto orNone = [](const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); };
    Json list = Json::array();
    for (const auto& finding : findings)
        list.push_back({{"id", finding.id},
                        {"state", toString(finding.state)},
                        {"found", finding.found},
                        {"remedy", orNone(finding.remedy)},
                        {"where", orNone(finding.where)}});
    return document({{"findings", std::move(list)}});
}

std::string jsonVersions(const std::optional<std::string>& daemon) {
    return document({{"pinfold", PINFOLD_VERSION}, {"pinfoldd", daemon ? Json(*daemon) : Json(nullptr)}});
}

std::string jsonTop(const std::vector<TopRow>& rows, RealTime at) {
    Json list = Json::array();
    for (const auto& row : rows)
        list.push_back(topRow(row));
    return document({{"at", at}, {"at_iso", formatUtc(at)}, {"jobs", std::move(list)}});
}

std::string jsonIdle(const IdleListing& listing) {
    Json list = Json::array();
    for (const auto& row : listing.jobs) {
        auto json = job(row.job);
        json["age"] = row.age;
        const auto& cpus = row.cpus;
        const auto& memory = row.memory;
        json["cpus_held"] = cpus ? Json(cpus->held) : Json(nullptr);
        json["cpus_used"] = cpus ? Json(cpus->used) : Json(nullptr);
        json["used_percent"] = cpus ? Json(cpus->percent()) : Json(nullptr);
        json["memory_max"] = memory ? Json(static_cast<std::uint64_t>(memory->held)) : Json(nullptr);
        json["memory_need"] = memory ? Json(static_cast<std::uint64_t>(memory->used)) : Json(nullptr);
        json["memory_need_percent"] = memory ? Json(memory->percent()) : Json(nullptr);
        json["over"] = row.over();
        list.push_back(std::move(json));
    }
    return document({{"since", listing.since},
                     {"share_percent", listing.share},
                     {"memory_share_percent", listing.memoryShare},
                     {"jobs", std::move(list)},
                     {"without_cpus", listing.withoutCpus},
                     {"without_profile", listing.withoutProfile}});
}

std::string jsonStrays(const StrayRun& run) {
    Json list = Json::array();
    for (const auto& row : run.rows)
        list.push_back(stray(row));
    Json body{
        {"mode", run.mode}, {"dry_run", run.dryRun}, {"acted", run.acted}, {"reasons", run.reasons}, {"unread", run.unread}};
    body["strays"] = std::move(list); // an initializer list would copy the list of strays
    return document(std::move(body));
}

std::string jsonOpened(const std::string& key, const std::string& slice, const std::map<std::string, std::string>& environment) {
    return document({{"job", key}, {"slice", slice}, {"environment", environment}});
}

std::string jsonTask(const std::string& key, std::uint32_t task, const std::string& unit) {
    return document({{"job", key}, {"task", task}, {"unit", unit}});
}

std::string jsonDryRun(const std::optional<std::string>& job, const std::vector<std::string>& would) {
    return document({{"job", orNull(job)}, {"dry_run", true}, {"would", would}});
}

} // namespace pinfold
