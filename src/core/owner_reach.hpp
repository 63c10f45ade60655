// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "model/subordinate_ids.hpp"

#include <string>

namespace pinfold {

/// What a job's owner can do to the job's processes through pinfoldd: no more than by kill(2). A batch system may have root's
/// prologue and epilogue in the job. It holds all that it uses, for a thread: a job may have thousands of processes.
class OwnerReach {
public:
    OwnerReach(const CoreContext& context, const Job& job)
        : cgroups_(context.cgroups), processes_(context.processes), slice_(slicePath(job.key())),
          owner_(context.idsOf(job.record.uid)) {}

    /// To the processes that are the owner's. Errors: Denied, there are processes, and none of them is; Internal.
    Result<void> signal(int number) const;
    /// Whether all processes are the owner's. Errors: Denied, with one that is not; Internal.
    Result<void> coversAll() const;

private:
    enum class Process { Owners, Others, Elsewhere };
    /// Elsewhere: it has ended, too.
    Result<Process> look(pid_t pid) const;

    CgroupTree cgroups_;
    ProcessTable processes_;
    std::string slice_;
    UserIds owner_;
};

/// What a job's owner wants to do to its processes is done one after the other: whoever gets the turn gives it back by
/// Job::ownersTurn. Error: Busy, an earlier request of the owner's is under way.
Result<void> takeOwnersTurn(Job& job);

} // namespace pinfold
