// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// The states of a job's life. pinfoldd writes the record on disk before it acts on each step, so that a restarted pinfoldd can
/// go on.
///
/// A new state needs: a value in this enumeration; its word, its transitions and its ShownState in job_state.cpp (without the
/// word, job_state.cpp does not compile); what a restart does with the state (Recovery::takeUp) and what callers may do in it
/// (phaseOf()), where the compiler warns if the case is missing; what JobEnder watches in it (the table above JobEnder); and a
/// row in docs/architecture.md, "A job's life".
enum class JobState {
    Creating,   ///< pinfoldd has called StartTransientUnit, and the start is not over
    Running,    ///< pinfoldd has verified that the leader is in its scope
    Ending,     ///< the cause is known, and pinfoldd is stopping the processes that are left
    Accounting, ///< no process is left, and pinfoldd writes the receipt and removes the slice
};

std::string_view toString(JobState state);
std::optional<JobState> jobStateFromString(std::string_view text);

/// Is the state of a job as people and other programs see it.
enum class ShownState {
    Creating,
    Running,
    Suspended, ///< a running job whose processes are frozen at somebody's request
    Ending,
    Accounting,
};

/// Returns the word for a state. Returns "?" for an unset state, which comes from a newer pinfoldd and is unknown to this
/// program.
std::string_view toString(std::optional<ShownState> state);
std::optional<ShownState> shownStateFromString(std::string_view text);
/// Returns the words for all shown states, in the order of the enumeration.
std::vector<std::string> shownStateNames();

/// Returns the state to show. `suspended` says that somebody has suspended the job; this counts only while the job runs.
ShownState shownState(JobState state, bool suspended);

/// Is the transition table. pinfoldd may forget a job only in the states Creating and Accounting.
bool mayFollow(JobState from, JobState to);

} // namespace pinfold
