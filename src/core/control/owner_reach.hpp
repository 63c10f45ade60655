// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "model/subordinate_ids.hpp"

#include <string>

namespace pinfold {

/// Does to a job's processes what the job's owner may do to them, which is no more than by kill(2): a batch system may have
/// root's prologue and epilogue in the job. A thread does it, since a job may have thousands of processes, so the object owns all
/// that it uses.
class OwnerReach {
public:
    OwnerReach(const CoreContext& context, const Job& job)
        : cgroups_(context.cgroups), processes_(context.processes), slice_(slicePath(job.key())),
          owner_(context.idsOf(job.record.uid)) {}

    /// Sends the signal to the owner's processes. Errors: Denied if all processes of the job
    /// belong to other users; Internal.
    Result<void> signal(int number) const;
    /// Success: all processes belong to the owner. Errors: Denied, which names a process that does not; Internal.
    Result<void> coversAll() const;

private:
    enum class Process { Owners, Others, Elsewhere };
    /// Elsewhere: not in the job, or it has ended.
    Result<Process> look(pid_t pid) const;

    CgroupTree cgroups_;
    ProcessTable processes_;
    std::string slice_;
    UserIds owner_;
};

/// The requests of a job's owner about the job's processes are done one after the other. This marks in Job::ownersTurn that a
/// request is under way; the request removes the mark when it is done. Error: Busy, because an earlier request is under way.
Result<void> takeOwnersTurn(Job& job);

} // namespace pinfold
