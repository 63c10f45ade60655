// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string_view>

namespace pinfold {

/// The states of a job's life. pinfoldd writes the record on disk before it acts on each step, so that it can go on after a
/// restart.
enum class JobState {
    Creating,   ///< StartTransientUnit is under way
    Running,    ///< pinfoldd has verified that the leader is in its scope
    Ending,     ///< the cause is known, and the processes that are left are being stopped
    Accounting, ///< no process is left; the receipt is written and the slice removed
};

std::string_view toString(JobState state);
std::optional<JobState> jobStateFromString(std::string_view text);

/// The transition table. pinfoldd may forget a job only in the states Creating and Accounting.
bool mayFollow(JobState from, JobState to);

} // namespace pinfold
