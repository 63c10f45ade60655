// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/end/job_ender.hpp"
#include "core/resources/batch_slice_share.hpp"

#include <optional>
#include <string>

namespace pinfold {

/// Checks whether this node can enforce a job's limits, and whether the kernel enforces the limits now. LimitKeeper changes the
/// limits of running jobs.
class LimitKeeper {
public:
    LimitKeeper(Core& core, BatchSliceShare& share, JobEnder& ender) : core_(core), share_(share), ender_(ender) {}

    /// Returns the limits that this node can enforce. If the node cannot enforce one of `limits`, the error is
    /// LimitUnenforceable. With jobs.unenforced_limits = "warn", enforceable() writes a warning to the journal, and does not
    /// return LimitUnenforceable. If jobs.unenforced_limits is "warn", the result does not contain limits for which systemd is
    /// too old. If `limits` names a CPU, a memory node, a device or a profile that does not exist, the error is LimitInvalid.
    Result<ResourceLimits> enforceable(const JobKey& key, ResourceLimits limits) const;

    /// Compares the job's limits with the files of the cgroup. Writes into the job's record which limits are not in force.
    /// The error is LimitUnenforceable if a limit is not in force and the site has set jobs.unenforced_limits = "refuse".
    Result<void> inForce(Job& job) const;

    struct Change {
        ResourceLimits limits; ///< the new values; unset for each limit that stays as it is
        uid_t by = 0;
        /// If `force` is true, a limit can be lower than what the job uses now. If the job uses more than the new limit, the
        /// kernel can kill processes to enforce the limit.
        bool force = false;
    };
    /// Changes all limits that are set in `change`. If one limit cannot be changed, change() leaves all limits as they are. The
    /// answer contains the job's limits after the change. change() fails with LimitInvalid, LimitUnenforceable, JobEnding, Busy
    /// or SystemdFailed.
    void change(const JobPtr& job, Change change, Reply<ResourceLimits> reply);

    /// Passes the limits in the job's record to systemd again. Call restore() after a restart of pinfoldd, because the restart
    /// has possibly interrupted a change.
    void restore(const JobPtr& job);

    /// Returns `limits` with the values of `change` in place of the old values. The error is LimitInvalid for a limit that cannot
    /// change while a job runs.
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
