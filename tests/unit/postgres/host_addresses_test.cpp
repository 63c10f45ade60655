// SPDX-License-Identifier: LGPL-2.1-or-later
#include "postgres/host_addresses.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace pinfold {
namespace {

TEST(HostAddresses, areNumbers) {
    const auto local = hostAddresses("localhost", Deadline(30s));
    ASSERT_TRUE(local) << local.error().message;
    EXPECT_TRUE(std::ranges::count(*local, "127.0.0.1") == 1 || std::ranges::count(*local, "::1") == 1);
    EXPECT_EQ(*hostAddresses("192.0.2.1", Deadline(30s)), std::vector<std::string>{"192.0.2.1"});
}

TEST(HostAddresses, ofANameThatCannotExist) {
    const auto none = hostAddresses("a..b", Deadline(30s));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, ErrorCode::Unreachable);
    EXPECT_NE(none.error().message.find("the name 'a..b' has no address: "), std::string::npos);
}

TEST(HostAddresses, areNotWaitedForAfterTheDeadline) {
    const auto late = hostAddresses("db.example.invalid", Deadline(0us));
    ASSERT_FALSE(late);
    EXPECT_EQ(late.error().code, ErrorCode::TimedOut);
}

} // namespace
} // namespace pinfold
