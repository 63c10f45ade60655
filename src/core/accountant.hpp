// SPDX-License-Identifier: LGPL-2.1-or-later
// The last step of a job: receipt, then its slice, then its record.
#pragma once

#include "core/core.hpp"
#include "core/history_writer.hpp"
#include "core/node_share.hpp"
#include "core/oom_judge.hpp"

#include <functional>
#include <vector>

namespace pinfold {

class Accountant {
public:
    struct Parts {
        NodeShare& share;
        OomJudge& judge;
        HistoryWriter& history;
        LiveRows& rows;
    };
    Accountant(Core& core, Parts parts) : core_(core), parts_(parts) {}

    /// The job runs. The history knows of it within a second, see LiveRows. Nobody waits for that.
    void running(const JobPtr& job) { parts_.rows.expect(job); }
    /// The job has run empty: takes down what its receipt shall say of when that was, and of what it used.
    void note(Job& job) const;
    /// It has not: something has joined it meanwhile.
    static void forgetNote(Job& job) { job.record.figures.reset(); }

    /// The job's last process is gone. Its receipt is made durable, then its units go, and whoever waits for it is told.
    void account(const JobPtr& job);

    /// A job has left the registry.
    std::function<void()> onForgotten;

private:
    void enqueue(const JobPtr& job);
    void flush();
    void removeSlice(const JobPtr& job, const Receipt& receipt, int tries);
    void forget(const JobPtr& job, const Receipt& receipt);

    Core& core_;
    Parts parts_;
    std::vector<JobPtr> due_;
    EventHandle flushSource_;
};

} // namespace pinfold
