// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/node.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

/// Returns two sockets. Each socket has two cores, and each core has two hyper-threads. The second socket has a lower package
/// number than the first socket. Adjacent CPU numbers are on different sockets.
Topology twoSockets() {
    Topology topology;
    for (unsigned cpu = 0; cpu < 8; ++cpu)
        topology.cpus.push_back({.cpu = cpu, .package = 1 - cpu % 2, .core = cpu % 4});
    return topology;
}

TEST(GridEngineNode, coresAreCountedBySocketAndLowestCpu) {
    EXPECT_EQ(cpusOf({{0, 0}}, twoSockets()).toString(), "0,4");
    EXPECT_EQ(cpusOf({{0, 1}}, twoSockets()).toString(), "2,6");
    EXPECT_EQ(cpusOf({{1, 0}, {1, 1}}, twoSockets()).toString(), "1,3,5,7");
}

TEST(GridEngineNode, coresThatTheNodeHasNotAreNone) {
    EXPECT_TRUE(cpusOf({{0, 0}, {0, 2}}, twoSockets()).empty());
    EXPECT_TRUE(cpusOf({{2, 0}}, twoSockets()).empty());
    EXPECT_TRUE(cpusOf({}, twoSockets()).empty());
}

TEST(GridEngineNode, anUnknownUserIsTheJobsFault) {
    const auto owner = findOwner("no-such-user-here");
    ASSERT_FALSE(owner);
    EXPECT_EQ(owner.error().code, ErrorCode::InvalidArgument);
    EXPECT_NE(owner.error().message.find("no-such-user-here"), std::string::npos);
    ASSERT_TRUE(findOwner("root"));
    EXPECT_EQ(findOwner("root")->uid, 0U);
}

} // namespace
} // namespace pinfold
