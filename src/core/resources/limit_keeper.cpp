// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/resources/limit_keeper.hpp"

#include "base/parse.hpp"
#include "core/report/events.hpp"
#include "model/limit_table.hpp"
#include "model/limit_variables.hpp"
#include "os/block_device.hpp"
#include "systemd/unit_properties.hpp"

#include <fmt/core.h>

#include <unistd.h>

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>

namespace pinfold {
namespace {

bool hasWord(std::string_view words, std::string_view word) {
    for (std::size_t start = 0; start <= words.size();) {
        const auto end = std::min(words.find(' ', start), words.size());
        if (words.substr(start, end - start) == word)
            return true;
        start = end + 1;
    }
    return false;
}

std::uint64_t pageSize() { return static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)); }

Error invalid(std::string what) { return {ErrorCode::LimitInvalid, std::move(what)}; }

// The functions unsetValue() return the value that the kernel uses for an unset limit. For a limit on devices, the result
// contains one value for each device in `changed`.
std::uint64_t unsetValue(const LimitRow& row, std::uint64_t) { return row.unset; }
CpuList unsetValue(const LimitRow&, const CpuList&) { return {}; }
DeviceAmounts unsetValue(const LimitRow& row, const DeviceAmounts& changed) {
    DeviceAmounts unset;
    for (const auto& [device, amount] : changed.amounts)
        unset.amounts[device] = row.unset;
    return unset;
}
template <class T> std::optional<T> unsetValue(const LimitRow&, const T&) { return std::nullopt; }

/// Returns a change that reverses `change`. If `change` sets a limit, the result sets this limit to the value from `old`.
ResourceLimits reversal(const ResourceLimits& change, const ResourceLimits& old) {
    ResourceLimits back;
    for (const auto& row : limitTable())
        std::visit(
            [&](auto member) {
                if (!(change.*member))
                    return;
                back.*member = old.*member;
                if (!(back.*member))
                    back.*member = unsetValue(row, *(change.*member));
            },
            row.member);
    return back;
}

std::string namesOf(const ResourceLimits& limits) {
    std::string names;
    forEachLimit(limits, [&names](const LimitRow& row, const auto& limit) {
        if (limit)
            names += (names.empty() ? "" : ", ") + std::string(row.name);
    });
    return names;
}

/// Looks in `limits` for devices that are not block devices of this node. Returns the name of the first device that is not a
/// block device of the node. If all devices are block devices, the result is an empty string.
std::string missingDevice(const ResourceLimits& limits) {
    std::string missing;
    forEachLimit(limits, [&missing](const LimitRow&, const auto& limit) {
        if constexpr (std::is_same_v<decltype(limit), const std::optional<DeviceAmounts>&>)
            for (const auto& [device, amount] : limit.value_or(DeviceAmounts{}).amounts)
                if (missing.empty() && !wholeDisk(device))
                    missing = device;
    });
    return missing;
}

/// Describes how the file of the limit differs from what pinfoldd has asked for. `found` is unset if the file does not exist.
std::string difference(const ExpectedCgroupValue& expected, const std::optional<std::string>& found) {
    if (!found)
        return fmt::format("the job's cgroup has no file {}", expected.file);
    return fmt::format("{} contains {} instead of {}", expected.file, *found, expected.value);
}

} // namespace

/// Describes a change of limits while systemd carries out the change.
struct LimitKeeper::PendingChange {
    JobPtr job;
    Change change;
    ResourceLimits before;
    Reply<ResourceLimits> reply;
    bool undoing = false;
    std::optional<Error> why = {};

    void finish() {
        job->changingLimits = false;
        reply(why ? Result<ResourceLimits>(*why) : Result<ResourceLimits>(job->record.limits));
    }
};

std::string LimitKeeper::controllersMissing(const ResourceLimits& limits) const {
    const auto root = core_.context.cgroups.open("/");
    const auto controllers = root ? root->read("cgroup.controllers").value_or("") : std::string();
    std::string missing;
    forEachLimit(limits, [&](const LimitRow& row, const auto& limit) {
        // If a limit sets no property of a unit, controllersMissing() ignores the controller of the limit. For example, the
        // out-of-memory policy needs the memory controller, but sets no property of a unit.
        if (limit && row.controller && row.property && !hasWord(controllers, row.controller))
            missing += fmt::format("{}{} (cgroup controller {})", missing.empty() ? "" : ", ", row.name, row.controller);
    });
    return missing;
}

Result<ResourceLimits> LimitKeeper::enforceable(const JobKey& key, ResourceLimits limits) const {
    if (limits == ResourceLimits{})
        return limits;
    const bool refuse = core_.context.config.jobs.unenforcedLimits == UnenforcedLimits::Refuse;
    const std::string remedy = "; jobs.unenforced_limits = \"warn\" lets jobs run without these limits";
    if (const auto newer = neededNewerSystemd(limits, core_.context.systemd.version()); !newer.empty()) {
        const auto message = fmt::format("this node's systemd {} is too old for {}", core_.context.systemd.version(), newer);
        if (refuse)
            return Error{ErrorCode::LimitUnenforceable, message + remedy};
        logLimitUnenforced(core_.context, key, message);
        limits = withoutNewer(limits, core_.context.systemd.version());
    }
    if (const auto missing = controllersMissing(limits); !missing.empty()) {
        const auto message =
            fmt::format("this node cannot enforce {}: the controller is missing from /sys/fs/cgroup/cgroup.controllers", missing);
        if (refuse)
            return Error{ErrorCode::LimitUnenforceable, message + remedy};
        logLimitUnenforced(core_.context, key, message);
    }
    if (auto there = existing(limits); !there)
        return there.error();
    return limits;
}

Result<void> LimitKeeper::existing(const ResourceLimits& limits) const {
    for (const auto& [limit, file, what] : {std::tuple(&limits.allowedCpus, "cpuset.cpus.effective", "CPUs"),
                                            std::tuple(&limits.allowedMemoryNodes, "cpuset.mems.effective", "memory nodes")}) {
        const auto there = *limit ? share_.available(file) : std::nullopt;
        if (there && !there->contains(**limit))
            return invalid(fmt::format("{} {} are not all available: jobs on this node may use {}", what, (*limit)->toString(),
                                       there->toString()));
    }
    if (const auto device = missingDevice(limits); !device.empty())
        return invalid(device + " is not a block device of this node: name one that `lsblk` shows");
    if (limits.deviceProfile && !core_.context.config.devices.contains(*limits.deviceProfile))
        return invalid(fmt::format("device profile '{0}' is not in this node's configuration: add [devices.{0}] to "
                                   "pinfold.toml(5), or use another profile",
                                   *limits.deviceProfile));
    return {};
}

/// Compares the limits with the files of the slice's cgroup. Writes into the record which limits are not in force. If limits are
/// not in force, compare() returns a text about the first of these limits. compare() changes the record, but does not store the
/// record on the disk. compare() need not store the record, because a restarted pinfoldd calls compare() for all running jobs. At
/// the end of each job, pinfoldd stores the job's record.
std::optional<std::string> LimitKeeper::compare(Job& job) {
    job.record.limitsNotEnforced.clear();
    if (!job.slice)
        return std::nullopt;
    std::optional<std::string> first;
    const auto read = [&job](const char* file) { return job.slice->read(file); };
    for (const auto& expected : expectedCgroupValues(job.record.limits, pageSize(), wholeDisk)) {
        if (expected.holds(read))
            continue;
        auto& names = job.record.limitsNotEnforced;
        // If several disks do not enforce a limit, the record contains the limit's name only once.
        if (names.empty() || names.back() != expected.limit)
            names.emplace_back(expected.limit);
        if (!first)
            first = fmt::format("{} is not enforced: {}", expected.limit, difference(expected, read(expected.file)));
    }
    return first;
}

Result<void> LimitKeeper::inForce(Job& job) const {
    const auto message = compare(job);
    if (!message)
        return {};
    if (core_.context.config.jobs.unenforcedLimits == UnenforcedLimits::Refuse)
        return Error{ErrorCode::LimitUnenforceable, *message};
    logLimitUnenforced(core_.context, job.key(), *message);
    return {};
}

Result<ResourceLimits> LimitKeeper::merged(const ResourceLimits& limits, const ResourceLimits& change) {
    const char* fixed = nullptr;
    forEachLimit(change, [&fixed](const LimitRow& row, const auto& limit) {
        if (limit && row.change == LimitChange::AtStart)
            fixed = row.name;
    });
    if (fixed)
        return invalid(std::string(fixed) + " cannot be changed while a job runs: set it when the job starts");
    auto all = withDefaults(change, limits);
    if (auto valid = validate(all); !valid)
        return valid.error();
    return all;
}

Result<void> LimitKeeper::survivable(const Job& job, const ResourceLimits& change) const {
    if (!change.memoryMax || !job.slice)
        return {};
    const auto held = job.slice->unreclaimableMemory();
    if (!held || *held <= *change.memoryMax)
        return {};
    return invalid(fmt::format("memory_max {} is below the {} that the job uses now without page cache: the kernel would kill "
                               "the job at once; set the option force to do it nevertheless",
                               formatSize(*change.memoryMax), formatSize(*held)));
}

void LimitKeeper::change(const JobPtr& job, Change change, Reply<ResourceLimits> reply) {
    if (job->changingLimits)
        return reply(Error{ErrorCode::Busy, "another change of this job's limits is in progress: try again"});
    auto possible = enforceable(job->key(), change.limits);
    if (!possible)
        return reply(possible.error());
    change.limits = std::move(*possible);
    auto limits = merged(job->record.limits, change.limits);
    if (!limits)
        return reply(limits.error());
    if (auto survives = change.force ? Result<void>() : survivable(*job, change.limits); !survives)
        return reply(survives.error());

    auto pending = std::make_shared<PendingChange>(PendingChange{job, std::move(change), job->record.limits, std::move(reply)});
    job->changingLimits = true;
    job->record.limits = std::move(*limits);
    if (pending->change.force)
        job->record.limitsForcedBy = pending->change.by;
    core_.save(*job); // if pinfoldd restarts before the change is complete, the next pinfoldd continues with the new limits
    apply(pending);
}

void LimitKeeper::apply(const std::shared_ptr<PendingChange>& pending) {
    const auto properties = limitProperties(pending->change.limits);
    if (properties.empty())
        return applied(pending);
    const auto& key = pending->job->key();
    // apply() first changes the slice, whose limits cover the whole job, and then changes the scope. While a limit is being
    // raised, the scope's old limit stays in force until the scope gets the new limit.
    core_.context.systemd.setProperties(key.sliceName(), properties, [=, this](const SystemdOutcome& slice) {
        if (slice)
            return undo(pending, {ErrorCode::SystemdFailed, "systemd did not change the limits: " + slice->message});
        core_.context.systemd.setProperties(pending->job->key().scopeName(0), properties, [=, this](const SystemdOutcome& scope) {
            if (scope && scope->fault != SystemdFault::NoSuchUnit)
                return undo(pending, {ErrorCode::SystemdFailed, "systemd did not change the limits: " + scope->message});
            applied(pending);
        });
    });
}

void LimitKeeper::applied(const std::shared_ptr<PendingChange>& pending) {
    const auto& job = pending->job;
    if (pending->undoing) {
        (void)compare(*job);
        return pending->finish();
    }
    if (job->isLive())
        if (auto enforced = inForce(*job); !enforced)
            return undo(pending, enforced.error());
    logLimitsChanged(core_.context, *job, pending->change.by, pending->before);
    // Tasks that start later get environment variables with the new limits.
    setLimitVariables(job->record, core_.context.config.jobs.ompNumThreads);
    core_.save(*job);
    ender_.limitRunTime(job);
    share_.protect();
    core_.observer->limitsChanged(job->key());
    pending->finish();
}

void LimitKeeper::undo(const std::shared_ptr<PendingChange>& pending, const Error& why) {
    const auto& job = pending->job;
    if (pending->undoing) {
        logWarning(core_.context, job->key(), "its earlier limits cannot be restored: " + why.message);
        (void)compare(*job);
        return pending->finish();
    }
    pending->undoing = true;
    pending->why = why;
    auto& back = pending->change.limits;
    back = reversal(back, pending->before);
    // If the job had no list of CPUs before the change, undo() gives the job the list of all CPUs. If the job had no list of
    // memory nodes, undo() gives the job the list of all memory nodes. If systemd 252 gets an empty list, systemd 252 does not
    // change the cgroup.
    if (back.allowedCpus && back.allowedCpus->empty())
        back.allowedCpus = share_.available("cpuset.cpus.effective");
    if (back.allowedMemoryNodes && back.allowedMemoryNodes->empty())
        back.allowedMemoryNodes = share_.available("cpuset.mems.effective");
    job->record.limits = pending->before;
    core_.save(*job);
    apply(pending);
}

void LimitKeeper::restore(const JobPtr& job) {
    const auto wrong = compare(*job);
    if (!wrong)
        return;
    logWarning(core_.context, job->key(), fmt::format("{}; setting {} again", *wrong, namesOf(job->record.limits)));
    const auto properties = limitProperties(job->record.limits);
    // The callbacks of setProperties() ignore errors, because pinfoldd has already written a warning that names the limits. After
    // each restart, pinfoldd compares the limits of running jobs with the files of the cgroups.
    core_.context.systemd.setProperties(job->key().sliceName(), properties,
                                        [job](const SystemdOutcome&) { (void)compare(*job); });
    core_.context.systemd.setProperties(job->key().scopeName(0), properties, [](const SystemdOutcome&) {});
}

} // namespace pinfold
