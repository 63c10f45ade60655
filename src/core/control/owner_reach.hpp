// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "model/subordinate_ids.hpp"

#include <string>

namespace pinfold {

/// Sends signals to a job's processes on behalf of the job's owner. OwnerReach sends a signal only to a process that the owner
/// could signal with kill(2). The batch system can run processes of root in the job, such as the prologue and the epilogue. A job
/// can have thousands of processes, so a thread sends the signals. A thread other than the loop's thread uses the OwnerReach, so
/// the OwnerReach has its own copy of all data.
class OwnerReach {
public:
    OwnerReach(const CoreContext& context, const Job& job)
        : cgroups_(context.cgroups), processes_(context.processes), slice_(slicePath(job.key())),
          owner_(context.idsOf(job.record.uid)) {}

    /// Sends the signal to the owner's processes. If the job has processes, but no process of the owner, the error is Denied. If
    /// pinfoldd cannot list, read or signal a process of the job, the error is Internal.
    Result<void> signal(int number) const;
    /// Succeeds if all processes of the job belong to the owner. If a process of the job belongs to a different user, the error
    /// is Denied, and its message names the process. If pinfoldd cannot list or read the processes, the error is
    /// Internal.
    Result<void> coversAll() const;

private:
    enum class Process { Owners, Others, Elsewhere };
    /// Says whether the process belongs to the owner. For a process that has ended or is not in the job, the result is
    /// Elsewhere.
    Result<Process> look(pid_t pid) const;

    CgroupTree cgroups_;
    ProcessTable processes_;
    std::string slice_;
    UserIds owner_;
};

/// Sets Job::ownersTurn for the time in which a signal or a suspension by the owner is in progress. When the signal or the
/// suspension has succeeded or failed, pinfoldd resets Job::ownersTurn. pinfoldd handles the owner's requests one after the
/// other. If an earlier request of the owner is in progress, the error is Busy.
Result<void> takeOwnersTurn(Job& job);

} // namespace pinfold
