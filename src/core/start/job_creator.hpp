// SPDX-License-Identifier: LGPL-2.1-or-later
// Turns a request into a running job.
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

    /// Says which live job of the same key and owner may answer a request to open a job.
    enum class IfLive {
        SameRequest, ///< only a job that somebody opened by the same request
        JoinAny,     ///< any job
    };
    /// Opens a job without a process. If a job of that key is ending, open() waits for the end of that job. `ifLive` says which
    /// live job may answer the request.
    void open(const Caller& caller, CreateRequest request, Reply<JobSummary> reply, IfLive ifLive = IfLive::SameRequest);

    /// Continues a creation that an earlier pinfoldd began. By now the leader may or may not be in its scope. `isLoaded` is true
    /// if systemd has loaded the job's slice.
    void resume(const JobPtr& job, bool isLoaded);

    /// Ends a job that never ran. giveUp() stops the units that systemd has started for the job. The job gets no receipt.
    void giveUp(const JobPtr& job, const Error& why);

    /// The next manual.<n> is above `number`, which is the highest in the history. If this pinfoldd has given a higher number
    /// already, setLastManualNumber() changes nothing.
    void setLastManualNumber(std::uint64_t number) { lastManual_ = std::max(lastManual_, number); }
    /// Call this for a job of an earlier pinfoldd. If the key of the job is a manual.<n>, no other job gets this number, even if
    /// the job is over.
    void tookUp(const JobKey& key);

private:
    /// Makes the job for a request. `leader` is null for a job that is opened.
    Result<JobPtr> prepare(const Caller& caller, CreateRequest request, const CheckedProcess* leader);
    /// Succeeds if no job has this key. Error: AlreadyExists if a job has this key, or if there are units or files that may
    /// belong to such a job.
    Result<void> isFree(const JobKey& key) const;
    std::uint64_t nextManualNumber() const;
    Result<void> permitted(const Caller& caller, const CreateRequest& request, const CheckedProcess* leader) const;
    void applySlots(CreateRequest& request) const;
    void begin(const JobPtr& job, Reply<JobSummary> reply);
    void openAgain(const JobPtr& known, const Caller& caller, CreateRequest request, Reply<JobSummary> reply, IfLive ifLive);
    void createAgain(const Caller& caller, const JobPtr& known, Reply<JobSummary> reply) const;
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
