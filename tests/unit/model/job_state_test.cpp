// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/job_state.hpp"

#include "model/receipt.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string_view>

namespace pinfold {
namespace {

constexpr std::array kStates{JobState::Creating, JobState::Running, JobState::Ending, JobState::Accounting};

TEST(JobState, transitionTable) {
    constexpr bool kTable[kStates.size()][kStates.size()] = {
        // Creating, Running, Ending, Accounting
        {false, true, true, false},   // from Creating
        {false, false, true, false},  // from Running
        {false, false, false, true},  // from Ending
        {false, false, false, false}, // from Accounting
    };
    for (std::size_t from = 0; from < kStates.size(); ++from)
        for (std::size_t to = 0; to < kStates.size(); ++to)
            EXPECT_EQ(mayFollow(kStates[from], kStates[to]), kTable[from][to])
                << toString(kStates[from]) << " to " << toString(kStates[to]);
}

TEST(JobState, namesComeBack) {
    std::set<std::string_view> names;
    for (const auto state : kStates) {
        EXPECT_TRUE(names.insert(toString(state)).second);
        EXPECT_EQ(jobStateFromString(toString(state)), state);
    }
    EXPECT_EQ(names, (std::set<std::string_view>{"creating", "running", "ending", "accounting"}));
    for (const char* text : {"", "Running", "running ", "?"})
        EXPECT_EQ(jobStateFromString(text), std::nullopt) << text;
}

TEST(ShownState, namesComeBack) {
    const std::vector<std::string> names{"creating", "running", "suspended", "ending", "accounting"};
    EXPECT_EQ(shownStateNames(), names);
    for (const auto& name : names)
        EXPECT_EQ(toString(shownStateFromString(name)), name);
    for (const char* text : {"", "runing", "Running", "?"})
        EXPECT_EQ(shownStateFromString(text), std::nullopt) << text;
    EXPECT_EQ(toString(std::nullopt), "?") << "a state of a newer pinfoldd";
}

TEST(ShownState, ofARunningJobSaysWhetherItIsSuspended) {
    for (const auto state : kStates)
        for (const bool suspended : {false, true}) {
            const bool shown = suspended && state == JobState::Running;
            EXPECT_EQ(toString(shownState(state, suspended)), shown ? "suspended" : toString(state));
        }
}

TEST(JobResult, namesComeBack) {
    std::set<std::string_view> names;
    for (const auto result :
         {JobResult::Exited, JobResult::Signaled, JobResult::Stopped, JobResult::Timeout, JobResult::OutOfMemory,
          JobResult::SupervisorLost, JobResult::NodeShutdown, JobResult::NodeLost, JobResult::Lost}) {
        EXPECT_TRUE(names.insert(toString(result)).second);
        EXPECT_EQ(jobResultFromString(toString(result)), result);
    }
    const auto all = jobResultNames();
    EXPECT_EQ(names, std::set<std::string_view>(all.begin(), all.end()));
    EXPECT_TRUE(names.contains("supervisor-lost"));
    for (const char* text : {"", "exit", "Lost", "?"})
        EXPECT_EQ(jobResultFromString(text), std::nullopt) << text;
}

} // namespace
} // namespace pinfold
