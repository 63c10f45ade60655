// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/unit/core/core_fixture.hpp"

namespace pinfold::test {

TEST_F(CoreTest, whatTheKernelsKillHasLeftOutIsKilledAMomentLater) {
    auto leader = child();
    create("sge.1", leader);
    auto daemon = child();
    node.spawnInside(daemon.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
    end(leader);
    loop.advance(config.jobs.killGrace);
    EXPECT_TRUE(node.killedEach.empty());
    loop.advance(100ms);
    EXPECT_EQ(node.killedEach, std::vector<std::string>{"/batch.slice/batch-sge.1.slice"});
}

} // namespace pinfold::test
