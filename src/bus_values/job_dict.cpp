// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_values/job_dict.hpp"

namespace pinfold {
namespace {

/// Calls f(name, member) for each entry of the property Resources.
template <class R, class F> void forEachResourceEntry(R& resources, F&& f) {
    forEachResource(resources, [&f](const std::string& resource, auto& share) {
        forEachPart(share, [&](const char* part, auto& amount) { f((resource + "_" + part).c_str(), amount); });
        f((resource + "_unlimited_jobs").c_str(), share.unlimitedJobs);
    });
}

} // namespace

Dict toDict(const JobInfo& job) {
    Dict dict;
    put(dict, "key", job.key);
    put(dict, "job", sdbus::ObjectPath(job.object));
    put(dict, "state", std::string(toString(job.state)));
    put(dict, "uid", job.uid);
    put(dict, "slice", job.slice);
    put(dict, "unit", job.unit);
    put(dict, "leader", job.leader.value_or(0));
    put(dict, "created", job.created);
    put(dict, "tasks", job.tasks);
    put(dict, "unkillable_since", job.unkillableSince);
    if (job.unkillableSince)
        put(dict, "unkillable_in_fuse", job.unkillableInFuse);
    put(dict, "memory_need", job.memoryNeed);
    return dict;
}

JobInfo jobFrom(const Dict& dict) {
    JobInfo job;
    take(dict, "key", job.key);
    sdbus::ObjectPath object;
    take(dict, "job", object);
    job.object = object;
    std::string state;
    take(dict, "state", state);
    job.state = shownStateFromString(state);
    take(dict, "uid", job.uid);
    take(dict, "slice", job.slice);
    take(dict, "unit", job.unit);
    take(dict, "leader", job.leader);
    if (job.leader == 0U)
        job.leader.reset();
    take(dict, "created", job.created);
    take(dict, "tasks", job.tasks);
    take(dict, "unkillable_since", job.unkillableSince);
    take(dict, "unkillable_in_fuse", job.unkillableInFuse);
    take(dict, "memory_need", job.memoryNeed);
    return job;
}

Dict toDict(const JobProcess& process) {
    Dict dict;
    forEachProcessField(process, [&dict](const char* name, const auto& value) { put(dict, name, value); });
    return dict;
}

JobProcess processFrom(const Dict& dict) {
    JobProcess process;
    forEachProcessField(process, [&dict](const char* name, auto& value) { take(dict, name, value); });
    return process;
}

Dict toDict(const Reconciliation& found) {
    Dict dict;
    forEachOrphanKind(found, [&dict](const char* kind, const auto& names) { put(dict, kind, names); });
    return dict;
}

Reconciliation reconciliationFrom(const Dict& dict) {
    Reconciliation found;
    forEachOrphanKind(found, [&dict](const char* kind, auto& names) { take(dict, kind, names); });
    return found;
}

Dict toDict(const NodeResources& resources) {
    Dict dict;
    forEachResourceEntry(resources, [&dict](const char* name, const auto& value) { put(dict, name, value); });
    return dict;
}

NodeResources resourcesFrom(const Dict& properties) {
    Dict dict;
    take(properties, "Resources", dict);
    NodeResources resources;
    forEachResourceEntry(resources, [&dict](const char* name, auto& value) { take(dict, name, value); });
    return resources;
}

Dict drainDetails(const std::optional<Drain>& drain) {
    Dict details;
    if (drain) {
        put(details, "since", drain->since);
        put(details, "by", drain->by);
    }
    return details;
}

std::optional<Drain> drainFrom(const Dict& properties) {
    bool draining = false;
    take(properties, "Draining", draining);
    if (!draining)
        return std::nullopt;
    Drain drain;
    take(properties, "DrainReason", drain.reason);
    Dict details;
    take(properties, "DrainDetails", details);
    take(details, "since", drain.since);
    take(details, "by", drain.by);
    return drain;
}

} // namespace pinfold
