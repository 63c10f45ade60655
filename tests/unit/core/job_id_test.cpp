// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/job_id.hpp"

#include <gtest/gtest.h>

#include <set>

namespace pinfold {
namespace {

TEST(JobId, beginsWithTheTimeSoThatItSorts) {
    EXPECT_EQ(newJobId(fromUsec<RealTime>(0)).substr(0, 12), "000000000000");
    EXPECT_EQ(newJobId(fromUsec<RealTime>(1'700'000'000'000'000)).substr(0, 12), "018bcfe56800");
    EXPECT_LT(newJobId(fromUsec<RealTime>(1'700'000'000'000'000)), newJobId(fromUsec<RealTime>(1'700'000'000'001'000)));
}

TEST(JobId, isUniqueInOneMillisecond) {
    std::set<std::string> ids;
    for (int i = 0; i < 10'000; ++i)
        ids.insert(newJobId(fromUsec<RealTime>(1'700'000'000'000'000)));
    EXPECT_EQ(ids.size(), 10'000U);
    EXPECT_EQ(ids.begin()->size(), 32U);
    EXPECT_EQ(ids.begin()->find_first_not_of("0123456789abcdef"), std::string::npos);
}

} // namespace
} // namespace pinfold
