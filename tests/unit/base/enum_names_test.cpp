// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/enum_names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pinfold {
namespace {

enum class Color { Red, Green };
constexpr auto kNames = enumNames<Color>({{Color::Red, "red"}, {Color::Green, "green"}});

TEST(EnumNames, goBothWays) {
    EXPECT_EQ(kNames[Color::Green], "green");
    EXPECT_EQ(kNames.find("red"), Color::Red);
    for (const char* text : {"", "Red", "blue"})
        EXPECT_EQ(kNames.find(text), std::nullopt) << text;
    EXPECT_EQ(kNames.all(), (std::vector<std::string>{"red", "green"}));
}

// isEnumerator() lets the compiler refuse a table that lacks the name of a value.
TEST(EnumNames, knowWhereTheEnumerationEnds) {
    EXPECT_TRUE(isEnumerator<Color::Green>());
    EXPECT_FALSE(isEnumerator<static_cast<Color>(2)>());
}

} // namespace
} // namespace pinfold
