// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/leftover_search.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

#include <unistd.h>

#include <chrono>

namespace pinfold::test {
namespace {

constexpr uid_t kAlice = 500'001;
constexpr uid_t kBob = 500'002;

/// Makes one file that alice owns, and one file that bob owns. Each file belongs to a job that has ended.
class LeftoverSearchTest : public TemporaryDirectory {
protected:
    void SetUp() override {
        if (::geteuid() != 0)
            GTEST_SKIP() << "only root can make files that belong to other users";
        ASSERT_EQ(::chown(write("alices", "").c_str(), kAlice, kAlice), 0);
        ASSERT_EQ(::chown(write("bobs", "").c_str(), kBob, kBob), 0);
    }
    LeftoverListing search(const LeftoverSources& sources) const {
        const LeftoverRules rules{.ordinary = [](uid_t uid) { return uid == kAlice || uid == kBob; },
                                  .directories = {top()},
                                  .minAge = 0s,
                                  .root = false, // a search by an ordinary user removes nothing
                                  .doubts = {}};
        return searchLeftovers(rules, sources, nullptr);
    }
    static Result<std::vector<EndedJob>> itsJob(uid_t uid, RealTime) {
        return std::vector{EndedJob{RealClock::now() - 1h, RealClock::now(), "sge." + std::to_string(uid)}};
    }
    static Result<std::set<uid_t>> nobody() { return std::set<uid_t>{}; }
};

TEST_F(LeftoverSearchTest, whatIsNotKnownOfOneUserKeepsNothingOfAnother) {
    const auto listing = search({nobody, [](uid_t uid, RealTime since) {
                                     return uid == kBob ? Error{ErrorCode::Internal, "too many"} : itsJob(uid, since);
                                 }});
    ASSERT_EQ(listing.files.size(), 1U);
    EXPECT_EQ(listing.files[0].file.uid, kAlice);
    EXPECT_EQ(listing.files[0].kept, Kept::NotRoot) << "the last of all reasons";
    EXPECT_EQ(listing.gaps, (std::vector{LeftoverGap{kBob, "too many"}}));
}

TEST_F(LeftoverSearchTest, whatIsNotKnownOfTheNodeKeepsAll) {
    const auto listing = search({[] { return Result<std::set<uid_t>>(Error{ErrorCode::Internal, "no answer"}); }, itsJob});
    ASSERT_EQ(listing.files.size(), 2U);
    for (const auto& file : listing.files)
        EXPECT_EQ(file.kept, Kept::Unknown);
    EXPECT_EQ(listing.gaps, (std::vector{LeftoverGap{{}, "no answer"}}));
}

} // namespace
} // namespace pinfold::test
