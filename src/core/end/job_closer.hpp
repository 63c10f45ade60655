// SPDX-License-Identifier: LGPL-2.1-or-later
// Finishes a job whose processes have all ended. JobCloser writes the job's receipt and removes the job's slice at the same time.
// When the receipt is written and the slice is gone, JobCloser removes the job's record.
#pragma once

#include "core/core.hpp"
#include "core/history/history_writer.hpp"
#include "core/profile/sampler.hpp"
#include "core/resources/batch_slice_share.hpp"
#include "core/resources/oom_judge.hpp"

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace pinfold {

class JobCloser {
public:
    struct Parts {
        BatchSliceShare& share;
        OomJudge& judge;
        HistoryWriter& history;
        LiveRows& rows;
        Origins& origins;
        Sampler& sampler;
    };
    JobCloser(Core& core, Parts parts) : core_(core), parts_(parts) {}

    /// Call running() when the job runs. The history gets a row for the job within a second (LiveRows). running() does not wait
    /// until LiveRows has written the job's row. running() makes Sampler read the job's usage figures from time to time.
    void running(const JobPtr& job);
    /// Call note() when the job has no processes any more. The function note() stores the time and the job's usage figures for
    /// the receipt.
    void note(Job& job) const;
    /// Call forgetNote() when a process joins the job after a call of note(). When the job is empty again, JobEnder calls note()
    /// a second time for the job.
    static void forgetNote(Job& job);

    /// Call account() when the job's last process is gone. account() stores the receipt durably and removes the job's units. When
    /// the receipt is stored and the units are gone, account() answers all callers that wait for the end of the job.
    void account(const JobPtr& job);
    /// Call scopeRemoved() when PID 1 has removed a scope of the job.
    void scopeRemoved(const Job& job);

    /// pinfoldd calls onForgotten each time a job has left the registry.
    std::function<void()> onForgotten;

private:
    struct Closing;
    using ClosingPtr = std::shared_ptr<Closing>;
    void enqueue(ClosingPtr closing);
    void flush();
    void removeSliceAfterScope(const ClosingPtr& closing);
    void removeSlice(const ClosingPtr& closing, int tries);
    void forgetIfClosed(const Closing& closing);
    void forget(const JobPtr& job, const Receipt& receipt);

    Core& core_;
    Parts parts_;
    std::vector<ClosingPtr> due_;
    std::map<const Job*, ClosingPtr> awaitingScope_; ///< the jobs whose scope PID 1 has not removed yet
    EventHandle flushSource_;
};

} // namespace pinfold
