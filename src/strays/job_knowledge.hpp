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

/// Asks pinfoldd for the live jobs. Each call of a JobLister asks pinfoldd again.
using JobLister = std::function<Result<std::vector<LiveJob>>()>;

/// Lists the users and processes that may be on the node because of a job.
struct JobKnowledge {
    bool jobsKnown = false;
    std::set<uid_t> users;        ///< the users who have a live job
    std::set<std::string> slices; ///< the slices of the live jobs
    bool recordsKnown = false;
    std::vector<ProcessIdentity> ours; ///< the supervisors of jobs, and each leader that waits until the scope of its job exists
    /// Each text is a reason why a legitimate user or process may be missing in the lists of JobKnowledge.
    std::vector<std::string> problems;

    bool isOurs(const ProcessIdentity& process) const;
};

/// Reads pinfoldd's list, the records and the cgroups below batch.slice. pinfoldd's list, the records and the cgroups must
/// agree. If the records, pinfoldd's list and the cgroups disagree, learnJobs() reads the sources again, because a job may just
/// begin or end. learnJobs() reads the sources up to five times within half a second.
JobKnowledge learnJobs(const JobLister& list, const RecordStore& records, const CgroupTree& cgroups);

} // namespace pinfold
