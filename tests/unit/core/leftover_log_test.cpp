// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/report/leftover_log.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <algorithm>

namespace pinfold::test {

TEST_F(CoreTest, aUsersLeftoversHaveAShareOfTheJournal) {
    config.leftovers.reportMax = 10'000;
    const auto leave = [this](const std::string& key, uid_t user, char command, int count) {
        auto leader = child(user);
        create(key, leader);
        std::vector<ChildProcess> left;
        for (int i = 0; i < count; ++i) {
            left.push_back(child(user));
            node.spawnInside(left.back().pid(), "/batch.slice/batch-" + key + ".slice/job-" + key + ".scope", user,
                             std::string(4000, command));
        }
        end(leader);
    };
    const auto lines = [this](const std::string& part) {
        return std::ranges::count_if(journal.messages(), [&](const auto& line) { return line.find(part) != std::string::npos; });
    };
    leave("sge.1", 1000, 'a', 125);
    leave("sge.2", 1000, 'b', 3);
    leave("sge.3", 1001, 'c', 3);
    leave("sge.4", 0, 'd', 125);
    EXPECT_EQ(lines("aaaa"), 121) << "in 1 MiB, twice the command line and 600 bytes each";
    EXPECT_EQ(lines("leftover: and 4 more"), 1);
    EXPECT_EQ(lines("bbbb"), 0);
    EXPECT_EQ(lines("cccc"), 3);
    EXPECT_EQ(lines("dddd"), 125) << "root's";
    EXPECT_EQ(lines("the journal does not name"), 0);
    loop.advance(LeftoverLog::kStretch);
    EXPECT_EQ(lines("the journal does not name 7 processes that the jobs of user 1000 left behind"), 1);
    EXPECT_EQ(lines("the journal does not name"), 1);
    leave("sge.5", 1000, 'e', 3);
    EXPECT_EQ(lines("eeee"), 3);
}

} // namespace pinfold::test
