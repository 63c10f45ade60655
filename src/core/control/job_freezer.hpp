// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/end/job_ender.hpp"

namespace pinfold {

/// Suspends a job and all its tasks with the kernel's freezer. Suspended time does not count towards the run time limit.
class JobFreezer {
public:
    JobFreezer(Core& core, JobEnder& ender) : core_(core), ender_(ender) {}

    /// Suspends the job. If the job is suspended already, suspend() succeeds and changes nothing. The owner is allowed to suspend
    /// a job only while all processes of the job belong to the owner. suspend() can fail with JobEnding, SystemdFailed, Busy or
    /// Denied. The error is Busy while another request resumes the job. If a task of the job is starting, a request of the job's
    /// owner fails with Busy.
    void suspend(const JobPtr& job, const Caller& caller, Reply<void> reply);
    /// Resumes a suspended job. For a job that is not suspended, resume() does nothing. Errors: JobEnding, SystemdFailed.
    void resume(const JobPtr& job, uid_t by, Reply<void> reply);

    /// Call restore() after a restart of pinfoldd. An earlier pinfoldd possibly ended after it had stored the suspension, but
    /// before it had asked PID 1 to freeze the job.
    void restore(const JobPtr& job);

private:
    /// Finds out whether all processes of the job belong to the owner.
    void ask(const JobPtr& job, const Reply<void>& reply);
    void begin(const JobPtr& job, uid_t by, Reply<void> reply);
    void suspended(const JobPtr& job, uid_t by);
    void freeze(const JobPtr& job, SystemdDone done);
    /// Calls FreezeUnit until the kernel says that the job is frozen. Calls FreezeUnit at most `tries` times. PID 1 sometimes
    /// answers FreezeUnit before the job is frozen. In systemd 252, PID 1 stops waiting for the freeze when the slice's
    /// cgroup.events changes (unit_check_cgroup_events in src/core/cgroup.c).
    void freezeUnit(const JobPtr& job, int tries, SystemdDone done);
    void thaw(const JobPtr& job, SystemdDone done);
    /// Thaws the job at once, without a call of Turns::take(), and does not wait for systemd's answer.
    void thawAtOnce(const Job& job);
    void failed(const JobPtr& job);

    Core& core_;
    JobEnder& ender_;
};

} // namespace pinfold
