// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/control/job_signaller.hpp"
#include "core/core.hpp"

#include <cstdint>
#include <string>

namespace pinfold {

/// Warns a job before the job reaches its run time limit or its memory limit. The warning is a line in the job's own output, an
/// entry in the journal and a signal on the bus. LimitWarner warns a job once about each value of a limit, and does not repeat
/// the warning after a restart of pinfoldd.
class LimitWarner {
public:
    explicit LimitWarner(Core& core) : core_(core), signaller_(core) {}

    /// Restarts the timer of the warning about the run time limit. Call watchRunTime() when the limits have changed, or when the
    /// job was suspended or resumed.
    void watchRunTime(const JobPtr& job);
    /// Warns if the job needs at least 90 % of memory_max. The argument `need` is the present size of the job's anonymous and
    /// shared memory in bytes.
    void lookAtMemory(Job& job, std::uint64_t need);

private:
    void warnOfRunTime(const JobPtr& job);
    void signal(const JobPtr& job, int number);
    void tell(const Job& job, const std::string& limit, const std::string& words, const std::string& then);

    Core& core_;
    JobSignaller signaller_;
};

} // namespace pinfold
