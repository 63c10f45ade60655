// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/job_ender.hpp"
#include "core/node_share.hpp"

#include <optional>
#include <string>

namespace pinfold {

/// What a job's limits need of this node, whether they are in force, and their change while the job runs.
class LimitKeeper {
public:
    LimitKeeper(Core& core, NodeShare& share, JobEnder& ender) : core_(core), share_(share), ender_(ender) {}

    /// The limits as this node can enforce them: what it lacks is refused or, where the site says so, left out with a warning.
    /// Errors: LimitUnenforceable; LimitInvalid for CPUs, memory nodes, devices and profiles that don't exist.
    Result<ResourceLimits> enforceable(const JobKey& key, ResourceLimits limits) const;

    /// Compares with the cgroup's files, and notes what they do not have. Error: LimitUnenforceable, where the site wants no job
    /// without.
    Result<void> inForce(Job& job) const;

    struct Change {
        ResourceLimits limits; ///< only what is to change
        uid_t by = 0;
        bool force = false; ///< below what is in use, which the kernel enforces by killing
    };
    /// All or none. The answer: the limits in force afterwards. Errors: LimitInvalid, LimitUnenforceable, JobEnding, Busy,
    /// SystemdFailed.
    void change(const JobPtr& job, Change change, Reply<ResourceLimits> reply);

    /// After a restart of pinfoldd in the middle of a change: what the record says comes into force.
    void restore(const JobPtr& job);

    /// What `limits` would be after the change. Error: LimitInvalid for what can't change while a job runs.
    static Result<ResourceLimits> merged(const ResourceLimits& limits, const ResourceLimits& change);

    std::string controllersMissing(const ResourceLimits& limits) const;

private:
    struct Undertaking;
    Result<void> existing(const ResourceLimits& limits) const;
    Result<void> survivable(const Job& job, const ResourceLimits& change) const;
    void apply(const std::shared_ptr<Undertaking>& undertaking);
    void applied(const std::shared_ptr<Undertaking>& undertaking);
    void undo(const std::shared_ptr<Undertaking>& undertaking, const Error& why);
    static std::optional<std::string> compare(Job& job);

    Core& core_;
    NodeShare& share_;
    JobEnder& ender_;
};

} // namespace pinfold
