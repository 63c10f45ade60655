// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/control/owners_turns.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pinfold::test {
namespace {

class OwnersTurnsTest : public ::testing::Test {
protected:
    Result<void> take(uid_t user, char what) {
        return turns.take(user, [this, what] { begun += what; });
    }

    OwnersTurns turns{1, 128};
    std::string begun;
};

} // namespace

TEST_F(OwnersTurnsTest, oneOfEachUsersAtATimeInOrder) {
    for (const char what : {'a', 'b', 'c'})
        EXPECT_TRUE(take(1000, what));
    EXPECT_TRUE(take(1001, 'x'));
    EXPECT_EQ(begun, "ax");
    turns.over(1000);
    EXPECT_EQ(begun, "axb");
    turns.over(1001);
    turns.over(1000);
    turns.over(1000);
    EXPECT_TRUE(take(1000, 'd'));
    EXPECT_EQ(begun, "axbcd");
}

TEST_F(OwnersTurnsTest, whoIsOverAtOnceLetsTheNextBegin) {
    EXPECT_TRUE(take(1000, 'a'));
    EXPECT_TRUE(turns.take(1000, [this] { turns.over(1000); }));
    EXPECT_TRUE(take(1000, 'b'));
    turns.over(1000);
    EXPECT_EQ(begun, "ab");
}

TEST_F(OwnersTurnsTest, severalAtATime) {
    turns = OwnersTurns{2, 128};
    for (const char what : {'a', 'b', 'c', 'd'})
        EXPECT_TRUE(take(1000, what));
    EXPECT_EQ(begun, "ab");
    turns.over(1000);
    EXPECT_EQ(begun, "abc");
    turns.over(1000);
    turns.over(1000);
    turns.over(1000);
    for (const char what : {'e', 'f', 'g'})
        EXPECT_TRUE(take(1000, what));
    EXPECT_EQ(begun, "abcdef");
}

TEST_F(OwnersTurnsTest, oneUserHasABound) {
    for (std::size_t i = 0; i < 128; ++i)
        EXPECT_TRUE(take(1000, 'a'));
    const auto refused = take(1000, 'b');
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::Busy);
    EXPECT_EQ(refused.error().message, "user 1000 has 128 signals and suspensions of own jobs in progress: try again");
    EXPECT_TRUE(take(1001, 'x'));
    turns.over(1000);
    EXPECT_TRUE(take(1000, 'c'));
}

} // namespace pinfold::test
