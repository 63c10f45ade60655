// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string_view>

namespace pinfold {

/// A job's life. The record on disk is written before each step is acted on, so that a restart finds its way.
enum class JobState {
    Creating,   ///< StartTransientUnit is under way
    Running,    ///< the leader is verified to be in its scope
    Ending,     ///< cause known; what is left is being stopped
    Accounting, ///< nothing is left; receipt, then the slice goes
};

std::string_view toString(JobState state);
std::optional<JobState> jobStateFromString(std::string_view text);

/// The transition table. Leaving the table altogether (a job is forgotten) is allowed from Creating and Accounting only.
bool mayFollow(JobState from, JobState to);

} // namespace pinfold
