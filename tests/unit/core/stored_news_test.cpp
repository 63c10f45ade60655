// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/stored_news.hpp"

#include "tests/support/cpp/manual_event_loop.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pinfold::test {
namespace {

class StoredNewsTest : public ::testing::Test {
protected:
    StoredNewsTest() {
        news.onReport = [this](const StoredReceipts& stored) {
            reports.push_back(stored.epoch + " " + std::to_string(stored.first) + "-" + std::to_string(stored.last));
        };
    }

    ManualEventLoop loop;
    StoredNews news{loop};
    std::vector<std::string> reports;
};

using Reports = std::vector<std::string>;

TEST_F(StoredNewsTest, oneTransactionIsReportedAtOnceAndNeedsNoTimer) {
    for (std::uint64_t number = 1; number <= 2; ++number) {
        news.add({"a", number, number});
        EXPECT_EQ(reports.size(), number);
        EXPECT_EQ(loop.timers(), 0U);
        loop.advance(StoredNews::kBetween);
    }
    EXPECT_EQ(reports, (Reports{"a 1-1", "a 2-2"}));
}

// A node with many short jobs stores receipts every few milliseconds.
TEST_F(StoredNewsTest, aBusyNodeReportsOnceInATenthOfASecond) {
    for (std::uint64_t number = 1; number <= 100; ++number) {
        news.add({"a", 2 * number - 1, 2 * number});
        loop.advance(5ms);
    }
    EXPECT_EQ(reports, (Reports{"a 1-2", "a 3-40", "a 41-80", "a 81-120", "a 121-160", "a 161-200"}));
    EXPECT_EQ(loop.timers(), 0U);
}

TEST_F(StoredNewsTest, aReportNamesOneEpoch) {
    news.add({"a", 1, 1});
    news.add({"a", 2, 2});
    news.add({"b", 1, 1});
    news.add({"b", 2, 3});
    EXPECT_EQ(reports, (Reports{"a 1-1", "a 2-2"}));
    loop.advance(StoredNews::kBetween);
    EXPECT_EQ(reports, (Reports{"a 1-1", "a 2-2", "b 1-3"}));
}

} // namespace
} // namespace pinfold::test
