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

/// Lists the users and processes that may be on the node because of a job.
struct JobKnowledge {
    bool jobsKnown = false;
    std::set<uid_t> users;        ///< the users who have a live job
    std::set<std::string> slices; ///< the slices of the live jobs
    bool recordsKnown = false;
    std::vector<ProcessIdentity> ours; ///< the supervisors of jobs, and each leader that waits until the scope of its job exists
    /// Each text says why the lists of JobKnowledge may lack a user or process that belongs to a job.
    std::vector<std::string> problems;

    bool isOurs(const ProcessIdentity& process) const;
};

/// Reads pinfoldd's list, the records and the cgroups below batch.slice. Normally, pinfoldd's list, the records and the cgroups
/// contain the same jobs. While a job begins or ends, pinfoldd's list, the records and the cgroups may contain different jobs, so
/// learnJobs() reads them again. learnJobs() reads the records, pinfoldd's list and the cgroups up to five times within half a
/// second.
JobKnowledge learnJobs(const JobLister& list, const RecordStore& records, const CgroupTree& cgroups);

} // namespace pinfold
