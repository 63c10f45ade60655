// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/job_state.hpp"

#include <array>
#include <utility>

namespace pinfold {
namespace {

constexpr std::array kNames{
    std::pair{JobState::Creating, std::string_view("creating")},
    std::pair{JobState::Running, std::string_view("running")},
    std::pair{JobState::Ending, std::string_view("ending")},
    std::pair{JobState::Accounting, std::string_view("accounting")},
};

constexpr std::array kTransitions{
    std::pair{JobState::Creating, JobState::Running},
    std::pair{JobState::Creating, JobState::Ending}, // a job that was started and then fails a check ends without having run
    std::pair{JobState::Running, JobState::Ending},
    std::pair{JobState::Ending, JobState::Accounting},
};

} // namespace

std::string_view toString(JobState state) {
    for (const auto& [known, name] : kNames)
        if (known == state)
            return name;
    return "?";
}

std::optional<JobState> jobStateFromString(std::string_view text) {
    for (const auto& [state, name] : kNames)
        if (name == text)
            return state;
    return std::nullopt;
}

bool mayFollow(JobState from, JobState to) {
    for (const auto& [before, after] : kTransitions)
        if (before == from && after == to)
            return true;
    return false;
}

} // namespace pinfold
