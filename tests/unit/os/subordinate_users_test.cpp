// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/subordinate_users.hpp"

#include "tests/support/cpp/manual_background.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace pinfold::test {
namespace {

constexpr uid_t kOwner = 2001;
constexpr uid_t kFirst = 100'000;

class SubordinateUsersTest : public TemporaryDirectory {
protected:
    void write(const std::string& text) {
        std::ofstream(file) << text;
        loop.advance(SubordinateUsers::kLookAgain);
        (void)users.userOf(1);
        loop.settle();
    }

    ManualEventLoop loop;
    ManualBackground background{loop};
    std::filesystem::path file = top() / "subuid";
    std::vector<std::string> asked;
    std::vector<std::string> informed;
    std::vector<std::string> warned;
    SubordinateUsers users{{loop, background, file,
                            [this](const std::string& name) {
                                asked.push_back(name);
                                return name == "alice"  ? Result<uid_t>(kOwner)
                                       : name == "root" ? Result<uid_t>(0)
                                                        : Result<uid_t>(Error{ErrorCode::InvalidArgument, "unknown"});
                            },
                            [](uid_t user) {
                                return user == kOwner ? Result<std::string>("alice")
                                                      : Result<std::string>(Error{ErrorCode::InvalidArgument, "unknown"});
                            },
                            [this](const std::string& line) { informed.push_back(line); },
                            [this](const std::string& line) { warned.push_back(line); }}};
};

TEST_F(SubordinateUsersTest, anIdCountsAsItsOwner) {
    write("alice:100000:65536\n2002:165536:65536\n");
    EXPECT_EQ(users.userOf(kFirst + 7), kFirst) << "all ids of a range are one user until the name's is known";
    loop.settle();
    for (const uid_t id : {kFirst, kFirst + 7, kFirst + 65'535, kOwner})
        EXPECT_EQ(users.userOf(id), kOwner) << id;
    EXPECT_EQ(users.userOf(kFirst + 65'536), 2002U);
    for (const uid_t id : {uid_t{0}, uid_t{2002}, kFirst - 1, kFirst + 2 * 65'536})
        EXPECT_EQ(users.userOf(id), id);
    EXPECT_EQ(asked, std::vector<std::string>{"alice"}) << "once, and nobody whose ids are not in use";
}

TEST_F(SubordinateUsersTest, aThreadGetsACopyOfTheOwners) {
    write("alice:100000:65536\n2002:165536:65536\n");
    EXPECT_EQ(users.owners()->userOf(kFirst + 7), kFirst);
    (void)users.userOf(kFirst);
    loop.settle();
    const auto owners = users.owners();
    for (const uid_t id : {uid_t{0}, uid_t{2002}, kFirst - 1, kFirst, kFirst + 65'535, kFirst + 65'536, kFirst + 2 * 65'536})
        EXPECT_EQ(owners->userOf(id), users.userOf(id)) << id;
}

TEST_F(SubordinateUsersTest, anOwnerHasTheIdsOfAllRanges) {
    write("alice:100000:65536\nbob:165536:65536\n2001:300000:10\n");
    (void)users.idsOf(kOwner); // the first call of idsOf() makes pinfold look up the name
    loop.settle();
    const auto ids = users.idsOf(kOwner);
    for (const uid_t id : {kOwner, kFirst, kFirst + 65'535, uid_t{300'000}, uid_t{300'009}})
        EXPECT_TRUE(ids.has(id)) << id;
    for (const uid_t id : {uid_t{0}, uid_t{2002}, kFirst - 1, kFirst + 65'536, uid_t{300'010}})
        EXPECT_FALSE(ids.has(id)) << id;
    EXPECT_EQ(users.userOf(kFirst), kOwner);
    EXPECT_TRUE(asked.empty());
    EXPECT_TRUE(users.idsOf(0).subordinate.empty());
    (void)users.idsOf(4000);
    loop.settle();
    EXPECT_TRUE(users.idsOf(4000).subordinate.empty()) << "has no name";
    write("bob:100000:65536\n");
    (void)users.idsOf(kOwner);
    loop.settle();
    EXPECT_FALSE(users.idsOf(kOwner).has(kFirst));
}

TEST_F(SubordinateUsersTest, nobodyWaitsForTheNameServiceOrTheDisk) {
    write("alice:100000:65536\nbob:165536:65536\n");
    background.hold(Lane::Names);
    background.hold(Lane::Files);
    EXPECT_EQ(users.userOf(kFirst + 1), kFirst);
    EXPECT_EQ(users.userOf(kFirst + 65'537), kFirst + 65'536);
    EXPECT_EQ(background.hanging(Lane::Names), 1U) << "the lane is not for this alone";
    background.release(Lane::Names);
    loop.settle();
    EXPECT_EQ(users.userOf(kFirst + 1), kOwner);
}

TEST_F(SubordinateUsersTest, whatIsRootsOrNobodysIsNotRoot) {
    write("root:100000:65536\nghost:165536:65536\n");
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(users.userOf(kFirst + 1), kFirst);
        EXPECT_EQ(users.userOf(kFirst + 65'537), kFirst + 65'536);
        loop.settle();
    }
    EXPECT_EQ(asked, (std::vector<std::string>{"root", "ghost"}));
}

TEST_F(SubordinateUsersTest, aChangeIsSeen) {
    (void)users.userOf(1);
    loop.settle();
    ASSERT_EQ(informed.size(), 1U);
    EXPECT_NE(informed[0].find("subuid does not exist: no user has subordinate user ids"), std::string::npos) << informed[0];
    write("2001:100000:65536\n");
    EXPECT_EQ(users.userOf(kFirst + 1), kOwner);
    std::filesystem::remove(file);
    loop.advance(SubordinateUsers::kLookAgain);
    (void)users.userOf(1);
    loop.settle();
    EXPECT_EQ(users.userOf(kFirst + 1), kFirst + 1);
}

TEST_F(SubordinateUsersTest, whatIsWrongIsSaidOnce) {
    write("2001:100000:65536\nalice\nbob\n");
    EXPECT_EQ(users.userOf(kFirst + 1), kOwner);
    loop.advance(SubordinateUsers::kLookAgain);
    (void)users.userOf(1);
    loop.settle();
    ASSERT_EQ(warned.size(), 1U);
    EXPECT_NE(warned[0].find("name:first:count: line 2 and 1 more"), std::string::npos) << warned[0];
    write(std::string(SubordinateUsers::kMostBytes + 1, '\n'));
    EXPECT_NE(warned.back().find("more than 4 MiB"), std::string::npos) << warned.back();
    EXPECT_EQ(warned.size(), 2U);
    EXPECT_EQ(users.userOf(kFirst + 1), kOwner) << "as before";
}

} // namespace
} // namespace pinfold::test
