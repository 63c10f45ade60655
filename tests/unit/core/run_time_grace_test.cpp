// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that a job ends at the latest when run_time_max and run_time_grace are over.
#include "tests/unit/core/core_fixture.hpp"

namespace pinfold::test {
namespace {

/// A job of an ordinary user has a run time limit of 10 s. When the job reaches its run time limit, pinfoldd sends the first
/// signal. The job gets SIGKILL 100 ms after the first signal. Without `runTimeGrace`, the job would get SIGKILL one hour after
/// the first signal.
class ShortRunTimeGraceTest : public CoreTest {
protected:
    void SetUp() override {
        config.jobs.killGrace = 1h;
        create("sge.1", leader, {.runTimeMax = 10'000'000, .runTimeGrace = 100'000});
    }
    bool killedAt(Microseconds runTime) {
        loop.advance(runTime - 1us - (loop.bootTime() - begun));
        const bool early = node.applyCgroupKills();
        loop.advance(1us);
        return node.applyCgroupKills() && !early;
    }

    Caller owner{1000, false};
    ChildProcess leader = child();
    BootTime begun = loop.bootTime();
};

TEST_F(ShortRunTimeGraceTest, anOwnersStopDoesNotMakeTheJobOutlastItsLimit) {
    loop.advance(9'999ms);
    manager->stopJob(owner, "sge.1", 1h, [](const Result<void>& done) { EXPECT_TRUE(done); });
    EXPECT_TRUE(killedAt(10'100ms));
}

TEST_F(ShortRunTimeGraceTest, norDoesAStopThatNamesNoGrace) {
    loop.advance(9'999ms);
    manager->stopJob(owner, "sge.1", {}, [](const Result<void>& done) { EXPECT_TRUE(done); });
    EXPECT_TRUE(killedAt(10'100ms));
}

TEST_F(ShortRunTimeGraceTest, norDoesAnEnd) {
    loop.advance(9'999ms);
    manager->endJob(owner, "sge.1", {}, [](const Result<Receipt>&) {});
    EXPECT_TRUE(killedAt(10'100ms));
}

TEST_F(ShortRunTimeGraceTest, aSuspensionDoesNotCountAsRunTime) {
    loop.advance(9s);
    manager->suspendJob(owner, "sge.1", [](const Result<void>& done) { EXPECT_TRUE(done); });
    loop.advance(50s);
    manager->stopJob(owner, "sge.1", 1h, [](const Result<void>& done) { EXPECT_TRUE(done); });
    EXPECT_TRUE(killedAt(60'100ms));
}

TEST_F(ShortRunTimeGraceTest, anAdministratorMayGiveMoreTime) {
    loop.advance(9'999ms);
    manager->stopJob(root, "sge.1", 1min, [](const Result<void>& done) { EXPECT_TRUE(done); });
    EXPECT_TRUE(killedAt(69'999ms));
}

} // namespace
} // namespace pinfold::test
