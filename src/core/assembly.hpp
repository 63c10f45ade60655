// SPDX-License-Identifier: LGPL-2.1-or-later
// Creates the objects that implement the daemon's logic, and connects these objects with each other. If one object learns of an
// event, it calls the objects that have to act on the event. To carry out the request of a caller, JobManager calls objects of
// the Assembly.
#pragma once

#include "core/control/job_freezer.hpp"
#include "core/control/job_signaller.hpp"
#include "core/core.hpp"
#include "core/drain_state.hpp"
#include "core/end/job_closer.hpp"
#include "core/end/job_ender.hpp"
#include "core/end/task_ender.hpp"
#include "core/end/unkillable.hpp"
#include "core/history/history_writer.hpp"
#include "core/history/live_rows.hpp"
#include "core/history/origins.hpp"
#include "core/history/past_jobs.hpp"
#include "core/profile/sampler.hpp"
#include "core/resources/allocator.hpp"
#include "core/resources/batch_slice_share.hpp"
#include "core/resources/limit_keeper.hpp"
#include "core/resources/limit_warner.hpp"
#include "core/resources/oom_judge.hpp"
#include "core/restart/missing_jobs.hpp"
#include "core/restart/node_shutdown.hpp"
#include "core/restart/reconciler.hpp"
#include "core/restart/recovery.hpp"
#include "core/start/job_creator.hpp"
#include "core/start/supervisor_home.hpp"
#include "core/start/task_adder.hpp"

#include <string>

namespace pinfold {

/// Contains the objects that implement the daemon's logic, such as JobFreezer. The constructor of Assembly begins to handle the
/// events of systemd, of the kernel's log and of the cgroups. The destructor of Assembly removes the event handlers that the
/// constructor has set.
struct Assembly {
    explicit Assembly(CoreContext& context);
    ~Assembly();
    Assembly(const Assembly&) = delete;
    Assembly& operator=(const Assembly&) = delete;

    Core core;
    Origins origins;
    LiveRows rows;
    HistoryWriter historyWriter;
    PastJobs past;
    DrainState node;
    BatchSliceShare share;
    Allocator allocator;
    OomJudge judge;
    LimitWarner warner;
    Sampler sampler;
    JobCloser closer;
    SupervisorHome home;
    UnkillablePolicy unkillable;
    JobEnder ender;
    TaskEnder taskEnder;
    LimitKeeper keeper;
    JobFreezer freezer;
    JobSignaller signaller;
    NodeShutdown shutdown;
    JobCreator creator;
    TaskAdder adder;
    MissingJobs lost;
    Recovery recovery;
    Reconciler reconciler;

private:
    /// When systemd has removed a unit, look() checks the job or the task of the unit.
    void look(const std::string& unit);
    /// Checks for every job and every task whether its unit still exists.
    void lookAtAll();
};

} // namespace pinfold
