// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/job_record.hpp"
#include "os/cgroup.hpp"
#include "store/record_store.hpp"

#include <sys/types.h>

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pinfold {

struct LiveJob {
    std::string key;
    uid_t uid = 0;
    std::string slice; ///< the name of the job's slice, such as batch-<E>.slice
};

/// Asks pinfoldd for the live jobs. A JobLister does not store the list, and asks pinfoldd at each call.
using JobLister = std::function<Result<std::vector<LiveJob>>()>;

/// Contains what pinfold knows about the live jobs: their users, their slices, their supervisors, and the leaders that are not in
/// a scope yet.
struct JobKnowledge {
    bool jobsKnown = false;
    std::set<uid_t> users;        ///< the users who have a live job
    std::set<std::string> slices; ///< the slices of the live jobs
    bool recordsKnown = false;
    std::vector<ProcessIdentity> ours; ///< the supervisors of jobs, and each leader that waits until the scope of its job exists
    /// Each text names a reason why the lists of JobKnowledge are possibly incomplete.
    std::vector<std::string> problems;

    bool isOurs(const ProcessIdentity& process) const;
};

/// Reads pinfoldd's list, the records and the cgroups below batch.slice. Normally, pinfoldd's list, the records and the cgroups
/// contain the same jobs. While a job begins or ends, pinfoldd's list, the records and the cgroups can differ for a moment. If
/// the three sources differ, learnJobs() reads them again, at most five times within half a second.
JobKnowledge learnJobs(const JobLister& list, const RecordStore& records, const CgroupTree& cgroups);

} // namespace pinfold
