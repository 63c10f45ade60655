// SPDX-License-Identifier: LGPL-2.1-or-later
// The last step of a job: receipt, then its slice, then its record.
#pragma once

#include "core/core.hpp"
#include "core/node_share.hpp"
#include "core/oom_judge.hpp"

#include <vector>

namespace pinfold {

class Accountant {
public:
    Accountant(Core& core, NodeShare& share, OomJudge& judge) : core_(core), share_(share), judge_(judge) {}

    /// The job's last process is gone. Its receipt is made durable together with those of other jobs that end in the same
    /// moment, since each transaction costs a disk's flush; then its units go, and whoever waits for it is told.
    void account(const JobPtr& job);

private:
    void flush();
    Receipt makeReceipt(Job& job) const;
    void removeSlice(const JobPtr& job, const Receipt& receipt, int tries);
    void forget(const JobPtr& job, const Receipt& receipt);

    Core& core_;
    NodeShare& share_;
    OomJudge& judge_;
    std::vector<JobPtr> due_;
    EventHandle flushSource_;
};

} // namespace pinfold
