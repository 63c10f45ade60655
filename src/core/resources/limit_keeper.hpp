// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/end/job_ender.hpp"
#include "core/resources/batch_slice_share.hpp"

#include <optional>
#include <string>

namespace pinfold {

/// Checks whether this node can enforce a job's limits and whether they are in force, and changes them while the job runs.
class LimitKeeper {
public:
    LimitKeeper(Core& core, BatchSliceShare& share, JobEnder& ender) : core_(core), share_(share), ender_(ender) {}

    /// The limits as this node can enforce them. A limit that the node cannot enforce is refused or, if the site says so, left
    /// out with a warning. Errors: LimitUnenforceable; LimitInvalid for CPUs, memory nodes, devices and profiles that do not
    /// exist.
    Result<ResourceLimits> enforceable(const JobKey& key, ResourceLimits limits) const;

    /// Compares the job's limits with the cgroup's files, and notes in the job's record which limits are not in force. Error:
    /// LimitUnenforceable, if the site wants no job without its limits.
    Result<void> inForce(Job& job) const;

    struct Change {
        ResourceLimits limits; ///< only the limits that are to change
        uid_t by = 0;
        bool force = false; ///< also sets a limit below what is in use, which the kernel enforces by killing
    };
    /// Changes all of these limits or none. The answer has the limits that are in force afterwards. Errors: LimitInvalid,
    /// LimitUnenforceable, JobEnding, Busy, SystemdFailed.
    void change(const JobPtr& job, Change change, Reply<ResourceLimits> reply);

    /// Brings the limits of the record into force. This is for a restart of pinfoldd in the middle of a change.
    void restore(const JobPtr& job);

    /// What `limits` would be after the change. Error: LimitInvalid for a limit that cannot change while a job runs.
    static Result<ResourceLimits> merged(const ResourceLimits& limits, const ResourceLimits& change);

    std::string controllersMissing(const ResourceLimits& limits) const;

private:
    struct PendingChange;
    Result<void> existing(const ResourceLimits& limits) const;
    Result<void> survivable(const Job& job, const ResourceLimits& change) const;
    void apply(const std::shared_ptr<PendingChange>& pending);
    void applied(const std::shared_ptr<PendingChange>& pending);
    void undo(const std::shared_ptr<PendingChange>& pending, const Error& why);
    static std::optional<std::string> compare(Job& job);

    Core& core_;
    BatchSliceShare& share_;
    JobEnder& ender_;
};

} // namespace pinfold
