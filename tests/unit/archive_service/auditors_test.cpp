// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/auditors.hpp"

#include <gtest/gtest.h>

#include <future>

namespace pinfold {
namespace {

TEST(Auditors, seeAllAndOthersDoNot) {
    const Auditors auditors([] { return std::set<uid_t>{1000}; }, 60s);
    EXPECT_TRUE(*auditors.seesAll(0));
    EXPECT_TRUE(*auditors.seesAll(1000));
    EXPECT_FALSE(*auditors.seesAll(1001));
}

TEST(Auditors, areNotTakenForOthersWhileTheUserDatabaseIsSilent) {
    std::promise<std::set<uid_t>> never;
    const Auditors auditors([answer = never.get_future().share()] { return answer.get(); }, 1ms);
    EXPECT_TRUE(*auditors.seesAll(0));
    const auto others = auditors.seesAll(1000);
    ASSERT_FALSE(others);
    EXPECT_EQ(others.error().code, ErrorCode::Unreachable);
    never.set_value({}); // the thread waits for the promise `never`, and must end before the promise is destroyed
}

} // namespace
} // namespace pinfold
