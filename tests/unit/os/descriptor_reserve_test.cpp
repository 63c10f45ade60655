// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/descriptor_reserve.hpp"

#include "base/unique_fd.hpp"

#include <sys/eventfd.h>
#include <sys/resource.h>

#include <gtest/gtest.h>

namespace pinfold {
namespace {

struct DescriptorReserveTest : testing::Test {
    DescriptorReserveTest() { ::getrlimit(RLIMIT_NOFILE, &before_); }
    ~DescriptorReserveTest() override { ::setrlimit(RLIMIT_NOFILE, &before_); }

    void mayHave(rlim_t descriptors) const {
        const rlimit limit{descriptors, before_.rlim_max};
        ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    }

private:
    rlimit before_{};
};

TEST_F(DescriptorReserveTest, itIsTheLastOnes) {
    mayHave(1024);
    EXPECT_FALSE(isOfReserve(767, kReservedForEnds));
    EXPECT_TRUE(isOfReserve(768, kReservedForEnds));
    EXPECT_FALSE(isOfReserve(959, kReservedForWork));
    EXPECT_TRUE(isOfReserve(960, kReservedForWork));
}

TEST_F(DescriptorReserveTest, whereThereAreEnoughMoreThanTheReserveIsLeft) {
    const UniqueFd lowest(::eventfd(0, EFD_CLOEXEC)); // an earlier test perhaps left descriptors open
    mayHave(static_cast<rlim_t>(lowest.get()) + 1024);
    EXPECT_FALSE(onlyReserveIsLeft(kReservedForEnds));
}

TEST_F(DescriptorReserveTest, itIsSmallerWhereThereAreFew) {
    mayHave(128);
    EXPECT_FALSE(isOfReserve(95, kReservedForEnds));
    EXPECT_TRUE(isOfReserve(96, kReservedForEnds));
}

TEST_F(DescriptorReserveTest, whatUsersMayHaveTogether) {
    mayHave(1024);
    EXPECT_EQ(partOfDescriptors(kPartForConnections), 128U);
    EXPECT_EQ(partOfDescriptors(kPartForClosing), 64U);
}

TEST_F(DescriptorReserveTest, rootsQuarterIsTheLast) {
    const UniqueFd lowest(::eventfd(0, EFD_CLOEXEC)); // an earlier test perhaps left descriptors open
    const auto used = static_cast<rlim_t>(lowest.get()) + 1;
    mayHave(used * 3 / 2);
    EXPECT_FALSE(onlyRootsQuarterIsLeft());
    mayHave(used + 1);
    EXPECT_TRUE(onlyRootsQuarterIsLeft());
}

TEST_F(DescriptorReserveTest, whereThereIsNoneOnlyTheReserveIsLeft) {
    mayHave(3);
    EXPECT_TRUE(onlyReserveIsLeft(kReservedForEnds));
}

} // namespace
} // namespace pinfold
