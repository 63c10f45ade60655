// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// The states of a job's life. pinfoldd writes the record on disk before it acts on each step, so that it can go on after a
/// restart.
///
/// Adding a state: a value here, its word, its transitions and its ShownState in job_state.cpp (without a word it does not
/// compile); what a restart does with it (Recovery::takeUp) and what callers may do in it (phaseOf()), where the compiler warns
/// of a missing case; who watches what in it (the table above JobEnder); a row in docs/architecture.md, "A job's life".
enum class JobState {
    Creating,   ///< StartTransientUnit is under way
    Running,    ///< pinfoldd has verified that the leader is in its scope
    Ending,     ///< the cause is known, and the processes that are left are being stopped
    Accounting, ///< no process is left; the receipt is written and the slice removed
};

std::string_view toString(JobState state);
std::optional<JobState> jobStateFromString(std::string_view text);

/// The state of a job as people and other programs see it.
enum class ShownState {
    Creating,
    Running,
    Suspended, ///< a running job whose processes are frozen at somebody's request
    Ending,
    Accounting,
};

/// Unset, for a word of a newer pinfoldd that this program does not know, is "?".
std::string_view toString(std::optional<ShownState> state);
std::optional<ShownState> shownStateFromString(std::string_view text);
/// The words for all shown states, in the order of the enumeration.
std::vector<std::string> shownStateNames();

/// `suspended`: somebody has suspended the job. This counts only while the job runs.
ShownState shownState(JobState state, bool suspended);

/// The transition table. pinfoldd may forget a job only in the states Creating and Accounting.
bool mayFollow(JobState from, JobState to);

} // namespace pinfold
