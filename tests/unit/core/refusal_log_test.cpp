// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/report/refusal_log.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <algorithm>

namespace pinfold::test {
namespace {

class RefusalLogTest : public CoreTest {
protected:
    /// Lets the lane hang, and asks for more work than the lane accepts.
    void refuse(Lane lane, std::uint64_t calls) {
        background->hold(lane);
        const auto all = background->refused(lane) + calls;
        while (background->refused(lane) < all)
            (void)background->run(
                lane, [] {}, nullptr);
    }
    long lines(const std::string& part) const {
        return std::ranges::count_if(journal.messages(), [&](const auto& line) { return line.find(part) != std::string::npos; });
    }
};

} // namespace

TEST_F(RefusalLogTest, workThatIsRefusedIsToldOnceAMinute) {
    EXPECT_EQ(lines("could not"), 0);
    refuse(Lane::Output, 3);
    EXPECT_EQ(lines("pinfoldd could not write lines into the output of jobs (1 time), because too many such calls hang"), 1);
    loop.advance(RefusalLog::kBetween - 1s);
    EXPECT_EQ(lines("could not"), 1);
    loop.advance(1s);
    EXPECT_EQ(lines("pinfoldd could not write lines into the output of jobs (2 times), because too many such calls hang"), 1);
    loop.advance(2 * RefusalLog::kBetween);
    EXPECT_EQ(lines("could not"), 2) << "nothing was refused";
    refuse(Lane::Output, 1);
    EXPECT_EQ(lines("(1 time)"), 2) << "at once, because the last line is more than a minute old";
}

TEST_F(RefusalLogTest, eachLaneHasItsOwnMinute) {
    refuse(Lane::Names, 1);
    refuse(Lane::Descriptors, 1);
    EXPECT_EQ(lines("ask the name service (1 time)"), 1);
    EXPECT_EQ(lines("close files that users passed to it (1 time)"), 1);
}

} // namespace pinfold::test
