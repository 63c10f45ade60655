// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "model/job_record.hpp"
#include "os/cgroup.hpp"
#include "os/record_store.hpp"

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
    std::string slice; ///< batch-<E>.slice
};

/// What pinfoldd says, asked anew each time.
using JobLister = std::function<Result<std::vector<LiveJob>>()>;

/// Who is legitimate on the node because of a job.
struct JobKnowledge {
    bool jobsKnown = false;
    std::set<uid_t> users;        ///< who have a live job
    std::set<std::string> slices; ///< of the live jobs
    bool recordsKnown = false;
    std::vector<ProcessIdentity> ours; ///< supervisors, and leaders that wait for their job's scope
    std::vector<std::string> problems; ///< not empty: somebody may be legitimate of whom it is not known

    bool isOurs(const ProcessIdentity& process) const;
};

/// pinfoldd's list, the records and the cgroups below batch.slice, which have to say the same. Jobs come and go while they are
/// read, so what doesn't agree is read again, for half a second.
JobKnowledge learnJobs(const JobLister& list, const RecordStore& records, const CgroupTree& cgroups);

} // namespace pinfold
