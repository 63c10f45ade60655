// SPDX-License-Identifier: LGPL-2.1-or-later
// Creates jobs. JobCreator follows each new job from the request until the job is running.
#pragma once

#include "core/core.hpp"
#include "core/drain_state.hpp"
#include "core/end/job_ender.hpp"
#include "core/resources/allocator.hpp"
#include "core/resources/limit_keeper.hpp"
#include "core/start/process_check.hpp"
#include "core/start/scope_starter.hpp"
#include "core/start/supervisor_home.hpp"

#include <algorithm>

namespace pinfold {

class JobCreator {
public:
    struct Parts {
        const DrainState& node;
        BatchSliceShare& share;
        Allocator& allocator;
        LimitKeeper& keeper;
        SupervisorHome& home;
        JobEnder& ender;
    };
    JobCreator(Core& core, Parts parts)
        : core_(core), node_(parts.node), share_(parts.share), allocator_(parts.allocator), keeper_(parts.keeper),
          home_(parts.home), ender_(parts.ender), starter_(core.context) {}

    void create(const Caller& caller, CreateRequest request, Reply<JobSummary> reply);

    /// If a live job has the key and the owner of the request, IfLive says whether open() returns the live job or an error.
    enum class IfLive {
        SameRequest, ///< if CreateJob made the live job, open() returns an error
        JoinAny,     ///< open() returns the live job even if CreateJob made the live job
    };
    /// Opens a job without a process. If a job with the request's key is ending, open() first waits for the end of this old job.
    /// The argument `ifLive` says what to do if a job with the request's key is live.
    void open(const Caller& caller, CreateRequest request, Reply<JobSummary> reply, IfLive ifLive = IfLive::SameRequest);

    /// If an earlier pinfoldd has begun to create a job, resume() continues to create the job. The job's leader is possibly in
    /// the job's scope already. The argument `isLoaded` is true if systemd has loaded the job's slice.
    void resume(const JobPtr& job, bool isLoaded);

    /// Ends a job whose start failed, and stops the units that systemd has started for the job already. giveUp() writes no
    /// receipt for the job.
    void giveUp(const JobPtr& job, const Error& why);

    /// The argument `number` is the highest n of all keys manual.<n> in the history. The next key that pinfoldd makes gets a
    /// higher number than `number`. If this pinfoldd has already used a number above `number`, setLastManualNumber() changes
    /// nothing.
    void setLastManualNumber(std::uint64_t number) { lastManual_ = std::max(lastManual_, number); }
    /// Call tookUp() for each job of an earlier pinfoldd. If the job's key is manual.<n>, pinfoldd never makes this key for a
    /// later job.
    void tookUp(const JobKey& key);

private:
    /// Makes the Job object for a request. If the request opens a job, the job has no leader, and `leader` is null.
    Result<JobPtr> prepare(const Caller& caller, CreateRequest request, const CheckedProcess* leader);
    /// Succeeds if the key is free. If a live job, a stored record or a slice with processes has the key, the error is
    /// AlreadyExists.
    Result<void> isFree(const JobKey& key) const;
    std::uint64_t nextManualNumber() const;
    Result<void> permitted(const Caller& caller, const CreateRequest& request, const CheckedProcess* leader) const;
    void applySlots(CreateRequest& request) const;
    void begin(const JobPtr& job, Reply<JobSummary> reply);
    void openAgain(const JobPtr& known, const Caller& caller, CreateRequest request, Reply<JobSummary> reply, IfLive ifLive);
    void createAgain(const Caller& caller, const JobPtr& known, ForeignFd output, Reply<JobSummary> reply) const;
    void start(const JobPtr& job, bool mayBeThere);
    void started(const JobPtr& job, const ScopeStarter::Outcome& outcome);
    void overdue(const JobPtr& job, const Error& why);
    void drop(const JobPtr& job, const Error& why);
    void answer(const JobPtr& job, const Result<JobSummary>& answer) const;

    Core& core_;
    const DrainState& node_;
    BatchSliceShare& share_;
    Allocator& allocator_;
    LimitKeeper& keeper_;
    SupervisorHome& home_;
    JobEnder& ender_;
    ScopeStarter starter_;
    std::uint64_t lastManual_ = 0;
};

} // namespace pinfold
