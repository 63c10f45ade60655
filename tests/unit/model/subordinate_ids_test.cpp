// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/subordinate_ids.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace pinfold {
namespace {

using Ranges = std::vector<std::tuple<uid_t, uid_t, std::string>>;

Ranges rangesOf(std::string_view text) {
    Ranges all;
    for (const auto& [first, range] : parseSubordinateIds(text).ranges)
        all.emplace_back(first, range.last, range.owner);
    return all;
}

TEST(SubordinateIds, areAsShadowWritesThem) {
    EXPECT_EQ(rangesOf("alice:100000:65536\n1002:165536:65536"),
              (Ranges{{100'000, 165'535, "alice"}, {165'536, 231'071, "1002"}}));
    EXPECT_EQ(rangesOf(""), Ranges{});
}

TEST(SubordinateIds, whatSeveralLinesHaveIsOfTheFirst) {
    EXPECT_EQ(rangesOf("alice:100:10\nbob:100:10\ncarol:95:20\ndan:90:200\n"),
              (Ranges{{90, 94, "dan"}, {95, 99, "carol"}, {100, 109, "alice"}, {110, 114, "carol"}, {115, 289, "dan"}}));
}

TEST(SubordinateIds, endWithTheLastIdThatThereIs) {
    EXPECT_EQ(rangesOf("alice:4294967290:18446744073709551615\n"), (Ranges{{4'294'967'290, 4'294'967'294, "alice"}}));
    EXPECT_EQ(rangesOf("alice:4294967290:10\nbob:4294967294:1\n"), (Ranges{{4'294'967'290, 4'294'967'294, "alice"}}));
}

TEST(SubordinateIds, linesThatAreWrongAreNamedAndTheOthersCount) {
    const auto ids =
        parseSubordinateIds("# by hand\n\nalice\nalice:1\nalice:100:0\n:100:10\nalice:-1:10\nalice:4294967295:1\nalice:x:y\n"
                            "alice:100:10:20\nbob:200000:10\nalice:100:10 \n");
    EXPECT_EQ(ids.wrongLines, (std::vector<std::size_t>{3, 4, 5, 6, 7, 8, 9, 10, 12}));
    EXPECT_EQ(ids.ranges.size(), 1U);
    EXPECT_EQ(ids.ranges.at(200'000).owner, "bob");
}

} // namespace
} // namespace pinfold
