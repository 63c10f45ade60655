// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/word_list.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

TEST(WordList, separatesAllWords) {
    EXPECT_EQ(joined({}, ","), "");
    EXPECT_EQ(joined({"a"}, ","), "a");
    EXPECT_EQ(joined({"a", "b", "c"}, ", "), "a, b, c");
    EXPECT_EQ(joined({"", "b", ""}, ","), ",b,");
}

TEST(WordList, enumeratesAsASentenceDoes) {
    EXPECT_EQ(enumerated({}), "");
    EXPECT_EQ(enumerated({"a"}), "a");
    EXPECT_EQ(enumerated({"a", "b"}), "a or b");
    EXPECT_EQ(enumerated({"a", "b", "c"}), "a, b or c");
    EXPECT_EQ(enumerated({"a", "b", "c"}, "and"), "a, b and c");
}

} // namespace
} // namespace pinfold
