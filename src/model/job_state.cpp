// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/job_state.hpp"

#include "base/enum_names.hpp"

#include <array>
#include <utility>

namespace pinfold {
namespace {

constexpr auto kJobStateNames = enumNames<JobState>({
    {JobState::Creating, "creating"},
    {JobState::Running, "running"},
    {JobState::Ending, "ending"},
    {JobState::Accounting, "accounting"},
});

constexpr auto kShownNames = enumNames<ShownState>({
    {ShownState::Creating, "creating"},
    {ShownState::Running, "running"},
    {ShownState::Suspended, "suspended"},
    {ShownState::Ending, "ending"},
    {ShownState::Accounting, "accounting"},
});

constexpr std::array kTransitions{
    std::pair{JobState::Creating, JobState::Running},
    // If a check of pinfoldd fails after systemd has started a job, the job changes from Creating to Ending.
    std::pair{JobState::Creating, JobState::Ending},
    std::pair{JobState::Running, JobState::Ending},
    std::pair{JobState::Ending, JobState::Accounting},
};

} // namespace

std::string_view toString(JobState state) { return kJobStateNames[state]; }

std::optional<JobState> jobStateFromString(std::string_view text) { return kJobStateNames.find(text); }

std::string_view toString(std::optional<ShownState> state) { return state ? kShownNames[*state] : "?"; }

std::optional<ShownState> shownStateFromString(std::string_view text) { return kShownNames.find(text); }

std::vector<std::string> shownStateNames() { return kShownNames.all(); }

ShownState shownState(JobState state, bool suspended) {
    switch (state) {
    case JobState::Creating:
        return ShownState::Creating;
    case JobState::Running:
        return suspended ? ShownState::Suspended : ShownState::Running;
    case JobState::Ending:
        return ShownState::Ending;
    case JobState::Accounting:
        break;
    }
    return ShownState::Accounting;
}

bool mayFollow(JobState from, JobState to) {
    for (const auto& [before, after] : kTransitions)
        if (before == from && after == to)
            return true;
    return false;
}

} // namespace pinfold
