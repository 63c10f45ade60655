// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/cpu_list.hpp"
#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

CpuList list(std::string_view text) {
    auto parsed = CpuList::parse(text);
    EXPECT_TRUE(parsed) << text;
    return parsed ? *std::move(parsed) : CpuList();
}

TEST(CpuList, isCanonical) {
    EXPECT_EQ(list("3,1,2,0").toString(), "0-3");
    EXPECT_EQ(list("8,0-3").toString(), "0-3,8");
    EXPECT_EQ(list("0-2,1-5,4").toString(), "0-5");
    EXPECT_EQ(list("7-7").toString(), "7");
    EXPECT_EQ(list("8191").toString(), "8191");
    EXPECT_EQ(list("0-3,8"), list("8,3,2,1,0"));
}

TEST(CpuList, refuses) {
    for (const char* text : {"", ",", "0,", ",0", "0,,1", "3-1", "-1", "1-", "1-2-3", "a", " 0", "0 ", "8192", "0-8192",
                             "99999999999999999999", "0x1", "0;1"}) {
        const auto parsed = CpuList::parse(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error().code, ErrorCode::InvalidArgument);
    }
}

TEST(CpuList, bitmapHasTheLowestCpuFirst) {
    EXPECT_EQ(list("0-3,8").toBitmap(), (std::vector<std::uint8_t>{0x0f, 0x01}));
    EXPECT_EQ(list("7").toBitmap(), (std::vector<std::uint8_t>{0x80}));
    EXPECT_EQ(list("8191").toBitmap().size(), 1024U);
}

TEST(CpuList, containsSubsets) {
    EXPECT_TRUE(list("0-7").contains(list("0-7")));
    EXPECT_TRUE(list("0-7").contains(list("2,5")));
    EXPECT_FALSE(list("0-3").contains(list("3-4")));
    EXPECT_FALSE(list("0-3").contains(list("64")));
    EXPECT_TRUE(list("0-64").contains(list("1")));
}

TEST(CpuList, isMadeOfNumbersAndGivesThemBack) {
    EXPECT_EQ(CpuList::of({8, 0, 2, 1, 3, 2}), list("0-3,8"));
    EXPECT_EQ(list("8,0-2").numbers(), (std::vector<unsigned>{0, 1, 2, 8}));
    EXPECT_EQ(list("8,0-2").count(), 4U);
    EXPECT_EQ(CpuList::of({5, 8191, 8192, 4294967295U}), list("5,8191"));
    EXPECT_EQ(CpuList::of({8192}), CpuList());
}

TEST(CpuList, anEmptySetIsOne) {
    EXPECT_TRUE(CpuList().empty());
    EXPECT_FALSE(list("0").empty());
    EXPECT_EQ(CpuList::of({}), CpuList());
    EXPECT_EQ(CpuList().count(), 0U);
    EXPECT_EQ(CpuList().numbers(), std::vector<unsigned>());
    EXPECT_EQ(CpuList().toString(), "");
    EXPECT_FALSE(CpuList().contains(0));
    EXPECT_TRUE(list("3").contains(CpuList()));
}

TEST(CpuList, containsNumbers) {
    EXPECT_TRUE(list("2,64").contains(64));
    EXPECT_FALSE(list("2,64").contains(3));
    EXPECT_FALSE(list("2,64").contains(65));
}

TEST(CpuList, setOperations) {
    EXPECT_EQ(list("0-3").united(list("2-5,100")), list("0-5,100"));
    EXPECT_EQ(list("100").united(list("1")), list("1,100"));
    EXPECT_EQ(list("0-3,100").intersected(list("2-5")), list("2-3"));
    EXPECT_EQ(list("2-5").intersected(list("0-3,100")), list("2-3"));
    EXPECT_EQ(list("0-3,100").without(list("1,100-200")), list("0,2-3"));
    EXPECT_EQ(list("1").without(list("0-7")), CpuList());
    EXPECT_EQ(list("1").intersected(list("2")), CpuList());
    EXPECT_EQ(CpuList().united(CpuList()), CpuList());
}

TEST(CpuList, equalSetsAreEqualHoweverMade) {
    EXPECT_EQ(list("0-3,8191").without(list("8191")), list("0-3"));
    EXPECT_EQ(list("0-3,8191").intersected(list("0-100")), list("0-3"));
    EXPECT_EQ(list("0-3,8191").without(list("4-8191")).toBitmap().size(), 1U);
}

TEST(CpuList, damagedTextIsRefusedOrComesBack) {
    Mutator mutator;
    for (int i = 0; i < 20000; ++i) {
        const auto parsed = CpuList::parse(mutator.mutate("0-3,8,100-120"));
        if (parsed) {
            EXPECT_EQ(list(parsed->toString()), *parsed);
        }
    }
}

} // namespace
} // namespace pinfold
