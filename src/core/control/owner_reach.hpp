// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "model/subordinate_ids.hpp"

#include <string>

namespace pinfold {

/// Sends signals to a job's processes for the job's owner. The owner may reach only those processes that the owner could reach by
/// kill(2), because a batch system may have root's prologue and epilogue in the job. A job may have thousands of processes, so a
/// thread uses this object, and the object owns all its data.
class OwnerReach {
public:
    OwnerReach(const CoreContext& context, const Job& job)
        : cgroups_(context.cgroups), processes_(context.processes), slice_(slicePath(job.key())),
          owner_(context.idsOf(job.record.uid)) {}

    /// Sends the signal to the owner's processes. Errors: Denied if all processes of the job
    /// belong to other users; Internal.
    Result<void> signal(int number) const;
    /// Succeeds if all processes of the job belong to the owner. Errors: Denied, with a process that belongs to another user;
    /// Internal.
    Result<void> coversAll() const;

private:
    enum class Process { Owners, Others, Elsewhere };
    /// Returns Elsewhere for a process that is not in the job or has ended.
    Result<Process> look(pid_t pid) const;

    CgroupTree cgroups_;
    ProcessTable processes_;
    std::string slice_;
    UserIds owner_;
};

/// Marks in Job::ownersTurn that a request of the owner about the job's processes is under way. The request removes the mark when
/// it is done. Error: Busy if an earlier request of the owner is under way, because such requests come one after the other.
Result<void> takeOwnersTurn(Job& job);

} // namespace pinfold
