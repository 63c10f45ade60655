// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/end/job_ender.hpp"

namespace pinfold {

/// Suspends a job and all its tasks by the kernel's freezer. Suspended time does not count towards the run time limit.
class JobFreezer {
public:
    JobFreezer(Core& core, JobEnder& ender) : core_(core), ender_(ender) {}

    /// A job that is suspended already stays suspended. The owner may suspend a job only while all its processes are the owner's.
    /// Errors: JobEnding, SystemdFailed; for the owner also Denied and Busy.
    void suspend(const JobPtr& job, const Caller& caller, Reply<void> reply);
    /// A job that is not suspended runs on. Errors: JobEnding, SystemdFailed.
    void resume(const JobPtr& job, uid_t by, Reply<void> reply);

    /// Call this after a restart: the record may have a suspension of which PID 1 has never heard.
    void restore(const JobPtr& job);

private:
    /// Finds out whether all processes are the owner's.
    void ask(const JobPtr& job, const Reply<void>& reply);
    void begin(const JobPtr& job, uid_t by, Reply<void> reply);
    void suspended(const JobPtr& job, uid_t by, const Reply<void>& reply);
    void freeze(const JobPtr& job, SystemdDone done);
    void thaw(const JobPtr& job, SystemdDone done);
    void failed(const JobPtr& job);

    Core& core_;
    JobEnder& ender_;
};

} // namespace pinfold
