// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/outcome.hpp"

#include "adapters/grid_engine/spool_config.hpp"
#include "base/error_code.hpp"
#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

#include <string>

namespace pinfold {
namespace {

constexpr const char* kUsage =
    "wait_status=49\nexit_status=3\nsignal=0\nstart_time=1795261900\nend_time=1795261900\nru_wallclock=0\n"
    "ru_utime=0.002916\nru_stime=0.500000\nru_maxrss=4656\nru_nvcsw=1\n";

Receipt receiptOf(Microseconds user, Microseconds system, std::uint64_t peak) {
    Receipt receipt;
    receipt.usage.cpuUser = user;
    receipt.usage.cpuSystem = system;
    receipt.usage.memoryPeak = peak;
    return receipt;
}

TEST(GridEngineOutcome, onlyLargerFiguresOfTheReceiptAreTaken) {
    EXPECT_EQ(usageWithReceipt(kUsage, receiptOf(1500ms, 400ms, 8 << 20)),
              "wait_status=49\nexit_status=3\nsignal=0\nstart_time=1795261900\nend_time=1795261900\nru_wallclock=0\n"
              "ru_utime=1.500000\nru_stime=0.500000\nru_maxrss=8192\nru_nvcsw=1\n");
    EXPECT_EQ(usageWithReceipt(kUsage, receiptOf(2916us, 0us, 4656 << 10)), kUsage);
    EXPECT_EQ(usageWithReceipt(kUsage, Receipt{}), kUsage);
}

TEST(GridEngineOutcome, pageCacheIsNotUse) {
    auto receipt = receiptOf(1500ms, 400ms, 80 << 20);
    receipt.usage.memoryNeed = 8 << 20;
    EXPECT_NE(usageWithReceipt(kUsage, receipt).find("ru_maxrss=8192\n"), std::string::npos);
    receipt.usage.memoryNeed = 1 << 20;
    EXPECT_NE(usageWithReceipt(kUsage, receipt).find("ru_maxrss=4656\n"), std::string::npos) << "the shepherd saw more";
}

TEST(GridEngineOutcome, ofAJobWithFurtherTasksNothingIsCountedTwice) {
    auto receipt = receiptOf(1500ms, 900ms, 8 << 20);
    receipt.tasks = 2;
    EXPECT_EQ(usageWithReceipt(kUsage, receipt), kUsage);
}

TEST(GridEngineOutcome, damagedUsageStaysAsItIs) {
    const auto receipt = receiptOf(1500ms, 900ms, 8 << 20);
    EXPECT_EQ(usageWithReceipt("", receipt), "");
    EXPECT_EQ(usageWithReceipt("ru_utime\nru_stime=x\nru_maxrss=1 2\n", receipt), "ru_utime\nru_stime=x\nru_maxrss=1 2\n");
    Mutator mutator;
    for (int i = 0; i < 5000; ++i) {
        const auto text = mutator.mutate(kUsage);
        EXPECT_LE(usageWithReceipt(text, receipt).size(), text.size() + 64);
    }
}

TEST(GridEngineOutcome, aKilledShepherdsUsageSaysBySignalWhich) {
    const auto usage = GridEngineConfig::parse(usageOfKilled(9, 1000, 1060));
    EXPECT_EQ(usage.value("exit_status"), "137");
    EXPECT_EQ(usage.value("wait_status"), std::to_string(1 + 137 * 16));
    EXPECT_EQ(usage.value("signal"), "0");
    EXPECT_EQ(usage.value("start_time"), "1000");
    EXPECT_EQ(usage.value("ru_wallclock"), "60");
    EXPECT_EQ(GridEngineConfig::parse(usageOfKilled(9, 1060, 1000)).value("ru_wallclock"), "0");
}

TEST(GridEngineOutcome, theCauseIsTheReceipts) {
    Receipt receipt;
    EXPECT_EQ(causeOfKilled(9, receipt), "sge_shepherd was killed by SIGKILL");
    receipt.result = JobResult::Timeout;
    EXPECT_NE(causeOfKilled(9, receipt).find("run time limit"), std::string::npos);
    receipt.result = JobResult::Stopped;
    receipt.stoppedBy = 1001;
    EXPECT_NE(causeOfKilled(9, receipt).find("user id 1001"), std::string::npos);
    receipt.result = JobResult::NodeShutdown;
    EXPECT_EQ(causeOfKilled(9, receipt), "ended because the node was shut down");
    receipt.result = JobResult::OutOfMemory;
    EXPECT_NE(causeOfKilled(9, receipt).find("memory"), std::string::npos);
    receipt.oom = OomVerdict{};
    EXPECT_EQ(causeOfKilled(9, receipt), oomLine(*receipt.oom, {}));
}

TEST(GridEngineOutcome, noFailureIsTakenForAJobThatHasRun) {
    for (const auto& row : errorTable()) {
        const auto verdict = verdictOn(row.code);
        EXPECT_TRUE(verdict == GridEngineVerdict::NodeFailed || verdict == GridEngineVerdict::TryAgain ||
                    verdict == GridEngineVerdict::JobFailed);
    }
    EXPECT_EQ(verdictOn(ErrorCode::Unreachable), GridEngineVerdict::NodeFailed);
    EXPECT_EQ(verdictOn(ErrorCode::Draining), GridEngineVerdict::NodeFailed);
    EXPECT_EQ(verdictOn(ErrorCode::AlreadyExists), GridEngineVerdict::TryAgain);
    EXPECT_EQ(verdictOn(ErrorCode::LimitInvalid), GridEngineVerdict::JobFailed);
    EXPECT_EQ(verdictOn(ErrorCode::LimitUnenforceable), GridEngineVerdict::JobFailed);
}

TEST(GridEngineOutcome, theJobsOwnEndIsInTheUsage) {
    EXPECT_EQ(exitFromUsage("wait_status=49\nexit_status=3\nsignal=0\n"), (ExitState{.status = 3, .signal = {}}));
    EXPECT_EQ(exitFromUsage("exit_status=137\nsignal=9\n"), (ExitState{.status = {}, .signal = 9}));
    for (const char* text : {"", "exit_status=256\n", "exit_status=-1\n", "signal=9x\n", "ru_utime=1\n"})
        EXPECT_FALSE(exitFromUsage(text)) << text;
}

} // namespace
} // namespace pinfold
