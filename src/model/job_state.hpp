// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// The states in the life of a job. Before each step, pinfoldd writes the record of the job to the disk, so that a restarted
/// pinfoldd can continue.
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

/// Holds the state of a job in the form in which pinfold shows it to users and other programs.
enum class ShownState {
    Creating,
    Running,
    Suspended, ///< a running job whose processes are frozen at somebody's request
    Ending,
    Accounting,
};

/// Returns the word for a state. If `state` is unset, a newer pinfoldd has sent a state that this program does not know, and
/// the result is "?".
std::string_view toString(std::optional<ShownState> state);
std::optional<ShownState> shownStateFromString(std::string_view text);
/// Returns the words for all values of ShownState, in the order of the enumeration.
std::vector<std::string> shownStateNames();

/// Returns the state that pinfold shows to users. The argument `suspended` is true if somebody has suspended the job. The
/// argument `suspended` has an effect only in the state Running.
ShownState shownState(JobState state, bool suspended);

/// Returns true if the state of a job may change from `from` to `to`. Only in the states Creating and Accounting may pinfoldd
/// forget a job.
bool mayFollow(JobState from, JobState to);

} // namespace pinfold
