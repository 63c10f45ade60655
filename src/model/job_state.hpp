// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Lists the states in the life of a job. When the state of a job changes, pinfoldd first writes the job's record to the disk,
/// and then acts. After a restart, pinfoldd continues from the state that the job's record contains.
///
/// A new state needs a value in this enumeration. In job_state.cpp, add a name, transitions and a ShownState for a new state.
/// job_state.cpp does not compile if the name of a state is missing. Recovery::takeUp() decides what a restart does with a job
/// in each state. phaseOf() decides what callers are allowed to do with a job in each state. The compiler warns if takeUp() or
/// phaseOf() has no case for a state. In job_ender.hpp, a table says what JobEnder does in each state. A new state needs a row
/// in docs/architecture.md, "A job's life".
enum class JobState {
    Creating,   ///< pinfoldd has called StartTransientUnit, and the start of the job is not over
    Running,    ///< pinfoldd has verified that the leader is in its scope
    Ending,     ///< the cause of the end is known, and pinfoldd is stopping the remaining processes
    Accounting, ///< no process is left, and pinfoldd writes the receipt and removes the slice
};

std::string_view toString(JobState state);
std::optional<JobState> jobStateFromString(std::string_view text);

/// Lists the job states that `pinfold` shows to users and other programs.
enum class ShownState {
    Creating,
    Running,
    Suspended, ///< the job is running, and its processes are frozen because somebody suspended the job
    Ending,
    Accounting,
};

/// Returns the word for a state. If `state` is unset, the result is "?". `state` is unset if a newer pinfoldd has sent a state
/// that this program does not know.
std::string_view toString(std::optional<ShownState> state);
std::optional<ShownState> shownStateFromString(std::string_view text);
/// Returns the words for all values of ShownState, in the order of the enumeration.
std::vector<std::string> shownStateNames();

/// Returns the state that pinfold shows to users. The argument `suspended` is true if somebody has suspended the job. The
/// argument `suspended` has an effect only in the state Running.
ShownState shownState(JobState state, bool suspended);

/// Returns true if a job in the state `from` is allowed to change to the state `to`. pinfoldd must not forget a job in any state
/// except Creating and Accounting.
bool mayFollow(JobState from, JobState to);

} // namespace pinfold
