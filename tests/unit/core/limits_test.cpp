// SPDX-License-Identifier: LGPL-2.1-or-later
// The tests of this file check changes of a running job's limits, and check limits that the node cannot enforce. If pinfoldd
// cannot change one limit of a request, pinfoldd changes no limit of the request.
#include "base/parse.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <deque>
#include <map>
#include <set>

namespace pinfold::test {
namespace {

constexpr const char* kSliceUnit = "batch-sge.1.slice";
constexpr const char* kScopeUnit = "job-sge.1.scope";
constexpr const char* kSliceCgroup = "/batch.slice/batch-sge.1.slice";
constexpr std::uint64_t kMebi = 1 << 20;

ResourceLimits memory(std::uint64_t bytes) {
    ResourceLimits limits;
    limits.memoryMax = bytes;
    return limits;
}

class LimitsTest : public CoreTest {
protected:
    LimitsTest() : leader(child()) {
        auto limits = memory(64 * kMebi);
        limits.tasksMax = 100;
        create("sge.1", leader, limits);
    }

    const Result<ResourceLimits>& change(const ResourceLimits& limits, bool force = false, Caller caller = {0, true}) {
        answer.reset();
        manager->setLimits(caller, "sge.1", limits, force, [this](Result<ResourceLimits> result) { answer = std::move(result); });
        loop.settle();
        return *answer;
    }
    std::string file(const char* name) const { return cgroups.open(kSliceCgroup)->read(name).value_or("none"); }
    void expectUnchanged() const {
        EXPECT_EQ(file("memory.max"), std::to_string(64 * kMebi));
        EXPECT_EQ(file("pids.max"), "100");
        const auto job = manager->job("sge.1");
        EXPECT_EQ(job->limits.memoryMax, 64 * kMebi);
        EXPECT_EQ(job->limits.tasksMax, 100U);
        EXPECT_EQ(records.load()->records.front().limits, job->limits);
    }

    ChildProcess leader;
    std::optional<Result<ResourceLimits>> answer;
};

TEST_F(LimitsTest, areRaisedAndLoweredOnSliceAndScope) {
    for (const auto bytes : {128 * kMebi, 32 * kMebi, kInfinity}) {
        node.changes.clear();
        ASSERT_TRUE(change(memory(bytes))) << answer->error().message;
        EXPECT_EQ((**answer).memoryMax, bytes);
        EXPECT_EQ((**answer).tasksMax, 100U) << "the others stay";
        ASSERT_EQ(node.changes.size(), 2U);
        EXPECT_EQ(node.changes[0].first, kSliceUnit);
        EXPECT_EQ(node.changes[1].first, kScopeUnit);
        EXPECT_EQ(node.changes[1].second, (std::vector<UnitProperty>{{"MemoryMax", bytes}}));
        EXPECT_EQ(records.load()->records.front().limits.memoryMax, bytes);
    }
    EXPECT_EQ(std::count(observer.log.begin(), observer.log.end(), "limits sge.1"), 3);
}

TEST_F(LimitsTest, stayAsTheyWereWhenSystemdRefusesTheSlice) {
    node.propertyFaults[kSliceUnit] = {SystemdFault::PropertyRefused, "Value specified in MemoryMax is out of range"};
    const auto& refused = change(memory(128 * kMebi));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::SystemdFailed);
    EXPECT_NE(refused.error().message.find("out of range"), std::string::npos);
    expectUnchanged();
}

TEST_F(LimitsTest, goBackWhenSystemdRefusesTheScope) {
    node.propertyFaults[kScopeUnit] = {SystemdFault::Other, "no"};
    auto both = memory(128 * kMebi);
    both.cpuWeight = 50;
    ASSERT_FALSE(change(both));
    expectUnchanged();
    EXPECT_EQ(file("cpu.weight"), "100") << "what was unset has the kernel's value again";
}

TEST_F(LimitsTest, goBackToAllCpusWhereNoneWereNamed) {
    node.setFile("/batch.slice", "cpuset.cpus.effective", "0-7\n");
    node.setFile("/batch.slice", "cpuset.mems.effective", "0-1\n");
    node.propertyFaults[kScopeUnit] = {SystemdFault::Other, "no"};
    ResourceLimits bound;
    bound.allowedCpus = *CpuList::parse("3");
    bound.allowedMemoryNodes = *CpuList::parse("1");
    ASSERT_FALSE(change(bound));
    EXPECT_EQ(file("cpuset.cpus"), "0-7") << "an empty list would leave the 3";
    EXPECT_EQ(file("cpuset.mems"), "0-1");
    EXPECT_FALSE(manager->job("sge.1")->limits.allowedCpus);
}

TEST_F(LimitsTest, goBackWhenTheKernelShowsAnother) {
    node.ignoreProperties = true;
    const auto& refused = change(memory(128 * kMebi));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::LimitUnenforceable);
    EXPECT_NE(refused.error().message.find("memory_max"), std::string::npos);
    expectUnchanged();
}

TEST_F(LimitsTest, ofAFileThatTheKernelLacksAreRefusedWithTheFilesName) {
    node.ignoreProperties = true;
    ResourceLimits limits;
    limits.ioWeight = 50;
    const auto& refused = change(limits);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message, "io_weight is not enforced: the job's cgroup has no file io.weight");
    expectUnchanged();
}

TEST_F(LimitsTest, areNotLoweredBelowWhatTheJobHolds) {
    node.setFile(kSliceCgroup, "memory.current", std::to_string(60 * kMebi) + "\n");
    node.setFile(kSliceCgroup, "memory.stat",
                 "anon " + std::to_string(35 * kMebi) + "\nfile " + std::to_string(20 * kMebi) + "\nshmem " +
                     std::to_string(2 * kMebi) + "\nslab_reclaimable 0\n");
    const auto& refused = change(memory(41 * kMebi)); // the job uses 60 MiB; the kernel can free 18 MiB of page cache
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::LimitInvalid);
    EXPECT_NE(refused.error().message.find("42M"), std::string::npos) << refused.error().message;
    expectUnchanged();
    EXPECT_TRUE(node.changes.empty());
    EXPECT_TRUE(change(memory(42 * kMebi))) << "page cache gives way";
    EXPECT_TRUE(change(memory(8 * kMebi), true)) << "by force";
    EXPECT_EQ(records.load()->records.front().limitsForcedBy, 0U);
}

TEST_F(LimitsTest, ofCpusThatDoNotExistAreRefused) {
    ResourceLimits limits;
    limits.allowedCpus = *CpuList::parse("3,16");
    const auto& refused = change(limits);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::LimitInvalid);
    EXPECT_NE(refused.error().message.find("0-15"), std::string::npos) << refused.error().message;
    limits = {};
    limits.allowedMemoryNodes = *CpuList::parse("2");
    EXPECT_FALSE(change(limits));
    limits.allowedMemoryNodes = *CpuList::parse("1");
    EXPECT_TRUE(change(limits));
    EXPECT_EQ(file("cpuset.mems"), "1");
}

TEST_F(LimitsTest, ofDevicesAndProfilesThatDoNotExistAreRefused) {
    ResourceLimits limits;
    limits.ioReadBandwidthMax = *DeviceAmounts::parse("/dev/no-such-disk 1M");
    EXPECT_EQ(change(limits).error().code, ErrorCode::LimitInvalid);
    auto other = child();
    ResourceLimits profile;
    profile.deviceProfile = "gpu";
    create("sge.2", other, profile);
    ASSERT_FALSE(*created);
    EXPECT_NE(created->error().message.find("gpu"), std::string::npos);
    config.devices["gpu"] = {{"/dev/nvidia0", "rw"}};
    create("sge.2", other, profile);
    ASSERT_TRUE(*created);
    const UnitProperty allow{"DeviceAllow", UnitProperty::DeviceRules{{"/dev/nvidia0", "rw"}}};
    for (const auto& properties : {node.starts.back().sliceProperties, node.starts.back().scopeProperties})
        EXPECT_NE(std::find(properties.begin(), properties.end(), allow), properties.end());
}

TEST_F(LimitsTest, thatAreSetAtTheStartOnlyAreRefusedLater) {
    ResourceLimits limits;
    limits.oomPolicy = OomPolicy::Process;
    const auto& refused = change(limits);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::LimitInvalid);
    EXPECT_NE(refused.error().message.find("oom_policy"), std::string::npos);
}

TEST_F(LimitsTest, areTightenedByTheOwnerAndLoosenedByTheAdmin) {
    const Caller owner{1000, false};
    EXPECT_TRUE(change(memory(32 * kMebi), false, owner));
    EXPECT_EQ(change(memory(33 * kMebi), false, owner).error().code, ErrorCode::Denied);
    EXPECT_EQ(change(memory(kInfinity), false, owner).error().code, ErrorCode::Denied);
    EXPECT_EQ(change(memory(16 * kMebi), false, {1001, false}).error().code, ErrorCode::Denied);
    EXPECT_EQ(file("memory.max"), std::to_string(32 * kMebi));
    EXPECT_TRUE(change(memory(kInfinity), false, {500, true}));
}

TEST_F(LimitsTest, areWhatTheRecordSaysAfterACrashInTheMiddle) {
    node.holdStarts = true; // systemd has changed the limits, but does not answer pinfoldd
    manager->setLimits(root, "sge.1", memory(128 * kMebi), false, [](const Result<ResourceLimits>&) {});
    crash();
    node.release();
    node.setFile(kSliceCgroup, "memory.max", std::to_string(64 * kMebi) + "\n"); // or not
    restart();
    EXPECT_EQ(file("memory.max"), std::to_string(128 * kMebi));
    EXPECT_EQ(manager->job("sge.1")->limits.memoryMax, 128 * kMebi);
}

TEST_F(LimitsTest, areChangedByOneAtATime) {
    node.holdStarts = true;
    manager->setLimits(root, "sge.1", memory(128 * kMebi), false, [](const Result<ResourceLimits>&) {});
    EXPECT_EQ(change(memory(256 * kMebi)).error().code, ErrorCode::Busy);
    node.release();
    loop.settle();
    EXPECT_EQ(file("memory.max"), std::to_string(128 * kMebi));
    EXPECT_TRUE(change(memory(256 * kMebi)));
}

TEST_F(LimitsTest, ofRunTimeAreCountedAnew) {
    ResourceLimits limits;
    limits.runTimeMax = 10'000'000;
    loop.advance(6s);
    ASSERT_TRUE(change(limits));
    loop.advance(3900ms);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    limits.runTimeMax = 20'000'000;
    ASSERT_TRUE(change(limits));
    loop.advance(1s);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running) << "raised in time";
    limits.runTimeMax = 5'000'000;
    ASSERT_TRUE(change(limits));
    loop.advance(1us);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Ending) << "lowered below its age";
}

TEST_F(LimitsTest, theKillSignalComesFirstAndItsGraceCounts) {
    ResourceLimits limits;
    limits.killSignal = 10;
    limits.killGrace = toUsec(5s);
    ASSERT_TRUE(change(limits));
    manager->stopJob(root, "sge.1", std::nullopt, [](const Result<void>&) {});
    loop.settle();
    EXPECT_EQ(node.signals.front(), (std::pair<std::string, int>(kSliceUnit, 10)));
    loop.advance(4900ms);
    EXPECT_FALSE(node.applyCgroupKills());
    loop.advance(200ms);
    EXPECT_TRUE(node.applyCgroupKills());
}

TEST_F(LimitsTest, aLimitOfANewerSystemdIsRefusedByNameOrLeftOut) {
    auto other = child();
    ResourceLimits limits;
    limits.memoryZswapMax = kMebi;
    create("sge.2", other, limits);
    ASSERT_FALSE(*created);
    EXPECT_EQ(created->error().code, ErrorCode::LimitUnenforceable);
    EXPECT_NE(created->error().message.find("memory_zswap_max (systemd 253)"), std::string::npos) << created->error().message;
    config.jobs.unenforcedLimits = UnenforcedLimits::Warn;
    create("sge.2", other, limits);
    ASSERT_TRUE(*created);
    EXPECT_FALSE((**created).limits.memoryZswapMax) << "it is not claimed either";
}

TEST_F(LimitsTest, whatTheKernelDoesNotHaveIsNamedInTheJobAndInItsReceipt) {
    config.jobs.unenforcedLimits = UnenforcedLimits::Warn;
    EXPECT_EQ(manager->job("sge.1")->limitsNotEnforced, std::vector<std::string>()) << "all are in force";
    node.ignoreProperties = true; // the fake node acts as if the kernel lacked the controllers
    ResourceLimits limits;
    limits.ioWeight = 50;
    limits.tasksMax = 7;
    ASSERT_TRUE(change(limits)) << answer->error().message;
    const std::vector<std::string> names{"tasks_max", "io_weight"};
    EXPECT_EQ(manager->job("sge.1")->limitsNotEnforced, names);
    crash();
    restart();
    EXPECT_EQ(manager->job("sge.1")->limitsNotEnforced, names) << "looked at again";
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].limitsNotEnforced, names);
}

TEST_F(LimitsTest, aChangeThatIsTakenBackLeavesNoName) {
    node.ignoreProperties = true;
    ResourceLimits limits;
    limits.tasksMax = 7;
    ASSERT_FALSE(change(limits)) << "this site wants no job without";
    EXPECT_EQ(manager->job("sge.1")->limitsNotEnforced, std::vector<std::string>());
}

class FreezerTest : public LimitsTest {
protected:
    Result<void> ask(void (JobManager::*call)(const Caller&, const std::string&, Reply<void>)) {
        std::optional<Result<void>> done;
        ((*manager).*call)(root, "sge.1", [&done](const Result<void>& result) { done = result; });
        loop.settle();
        return *done;
    }
};

TEST_F(FreezerTest, suspendedTimeIsNoRunTime) {
    ResourceLimits limits;
    limits.runTimeMax = 10'000'000;
    ASSERT_TRUE(change(limits));
    loop.advance(4s);
    ASSERT_TRUE(ask(&JobManager::suspendJob));
    EXPECT_EQ(shownState(*manager->job("sge.1")), ShownState::Suspended);
    EXPECT_TRUE(node.frozen.contains(kSliceUnit));
    loop.advance(60s);
    ASSERT_TRUE(ask(&JobManager::suspendJob)) << "twice is no error";
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    ASSERT_TRUE(ask(&JobManager::resumeJob));
    EXPECT_TRUE(node.frozen.empty());
    EXPECT_EQ(shownState(*manager->job("sge.1")), ShownState::Running);
    loop.advance(5900ms);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    loop.advance(200ms);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Ending);
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].suspended, 60s);
}

TEST_F(FreezerTest, aResumeThawsAlsoWhatIsFrozenWithoutPinfolddsKnowledge) {
    node.frozen.insert(kSliceUnit);
    node.setFile("/batch.slice/batch-sge.1.slice", "cgroup.events", "populated 1\nfrozen 1\n");
    ASSERT_TRUE(ask(&JobManager::resumeJob));
    EXPECT_TRUE(node.frozen.empty());
}

TEST_F(FreezerTest, untilItIsFrozenItRuns) {
    node.holdStarts = true; // systemd does not answer, as if it were slow or were moving processes
    manager->suspendJob(root, "sge.1", [](const Result<void>&) {});
    loop.advance(5s);
    node.release();
    loop.settle();
    loop.advance(3s);
    ASSERT_TRUE(ask(&JobManager::resumeJob));
    EXPECT_EQ(records.load()->records.front().suspended, 3s);
    node.holdStarts = true;
    node.freezeFault = SystemdError{SystemdFault::Other, "no freezer here"};
    manager->suspendJob(root, "sge.1", [](const Result<void>&) {});
    loop.advance(5s);
    node.release();
    loop.settle();
    EXPECT_EQ(records.load()->records.front().suspended, 3s);
}

TEST_F(FreezerTest, aJobIsSuspendedOnlyWhenTheKernelSaysSo) {
    node.earlyFreezeAnswers = 1;
    ASSERT_TRUE(ask(&JobManager::suspendJob));
    EXPECT_TRUE(node.frozen.contains(kSliceUnit));
    ASSERT_TRUE(ask(&JobManager::resumeJob));
    node.earlyFreezeAnswers = 1000;
    const auto failed = ask(&JobManager::suspendJob);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().code, ErrorCode::SystemdFailed);
    EXPECT_EQ(shownState(*manager->job("sge.1")), ShownState::Running);
}

TEST_F(FreezerTest, whoAsksForASuspensionInProgressGetsItsAnswer) {
    node.holdStarts = true; // the fake node acts as if PID 1 were slow
    std::vector<Result<void>> answers;
    const auto note = [&answers](const Result<void>& result) { answers.push_back(result); };
    manager->suspendJob(root, "sge.1", note);
    manager->suspendJob(root, "sge.1", note);
    loop.settle();
    EXPECT_TRUE(answers.empty()) << "the job still runs";
    node.release();
    loop.settle();
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_TRUE(answers[0] && answers[1]);
    EXPECT_EQ(shownState(*manager->job("sge.1")), ShownState::Suspended);
}

TEST_F(FreezerTest, aResumptionThatComesBetweenIsTold) {
    node.holdStarts = true;
    std::vector<Result<void>> answers;
    const auto note = [&answers](const Result<void>& result) { answers.push_back(result); };
    manager->suspendJob(root, "sge.1", note);
    std::optional<Result<void>> resumed;
    manager->resumeJob(root, "sge.1", [&resumed](const Result<void>& result) { resumed = result; });
    manager->suspendJob(root, "sge.1", note);
    node.release();
    loop.settle();
    ASSERT_EQ(answers.size(), 2U);
    EXPECT_EQ(answers[0].error().code, ErrorCode::Busy);
    EXPECT_EQ(answers[1].error().code, ErrorCode::Busy);
    EXPECT_TRUE(resumed && *resumed);
    EXPECT_TRUE(node.frozen.empty());
    EXPECT_EQ(shownState(*manager->job("sge.1")), ShownState::Running);
}

TEST_F(FreezerTest, aTimeLimitSetDuringAFreezeThatFailsIsKept) {
    node.holdStarts = true; // systemd does not answer, as if a process of the job waited in the kernel
    node.freezeFault = SystemdError{SystemdFault::NoReply, "timed out"};
    manager->suspendJob(root, "sge.1", [](const Result<void>&) {});
    loop.settle();
    ResourceLimits limits;
    limits.runTimeMax = 10'000'000;
    ASSERT_TRUE(change(limits));
    node.release();
    loop.settle();
    loop.advance(11s);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Ending);
}

TEST_F(FreezerTest, theJobsOfOneOwnerDoNotDelayThoseOfAnother) {
    std::deque<ChildProcess> leaders;
    std::map<std::string, std::optional<Result<void>>> answers;
    for (int number = 2; number <= 6; ++number)
        create("sge." + std::to_string(number), leaders.emplace_back(child(number == 6 ? 1001 : 1000)));
    node.holdStarts = true; // the freeze of a job gets no answer, as if the job's processes waited in the kernel
    for (int number = 1; number <= 6; ++number) {
        const auto key = "sge." + std::to_string(number);
        manager->suspendJob(root, key, [&answers, key](const Result<void>& result) { answers[key] = result; });
    }
    loop.settle();
    EXPECT_EQ(node.frozen, (std::set<std::string>{"batch-sge.1.slice", "batch-sge.2.slice", "batch-sge.3.slice",
                                                  "batch-sge.4.slice", "batch-sge.6.slice"}));
    manager->resumeJob(root, "sge.5", [&answers](const Result<void>& result) { answers["resumed"] = result; });
    node.release();
    loop.settle();
    EXPECT_TRUE(*answers["resumed"]);
    EXPECT_EQ(answers["sge.5"]->error().code, ErrorCode::Busy) << "it was resumed while it waited for its turn";
    for (const auto* key : {"sge.1", "sge.2", "sge.3", "sge.4", "sge.6"})
        EXPECT_TRUE(*answers[key]) << key;
    EXPECT_EQ(node.frozen.size(), 5U);
    EXPECT_FALSE(node.frozen.contains("batch-sge.5.slice"));
    EXPECT_EQ(shownState(*manager->job("sge.5")), ShownState::Running);
}

TEST_F(FreezerTest, aSuspendedJobIsThawedBeforeItIsStopped) {
    ASSERT_TRUE(ask(&JobManager::suspendJob));
    loop.advance(7s);
    manager->stopJob(root, "sge.1", std::nullopt, [](const Result<void>&) {});
    loop.settle();
    EXPECT_TRUE(node.frozen.empty());
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].suspended, 7s);
}

TEST_F(FreezerTest, aSuspendedJobTakesNoTaskAndSurvivesARestart) {
    ASSERT_TRUE(ask(&JobManager::suspendJob));
    crash();
    loop.advance(5s);
    restart();
    EXPECT_EQ(shownState(*manager->job("sge.1")), ShownState::Suspended);
    auto other = child();
    std::optional<Result<TaskAdded>> added;
    manager->addTask(root, taskOf("sge.1", other), [&](Result<TaskAdded> result) { added = std::move(result); });
    loop.settle();
    EXPECT_EQ(added->error().code, ErrorCode::Busy);
    ASSERT_TRUE(ask(&JobManager::resumeJob));
    EXPECT_EQ(records.load()->records.front().suspended, 5s);
}

TEST_F(FreezerTest, aJobThatCanNotBeFrozenRunsOn) {
    node.freezeFault = SystemdError{SystemdFault::Other, "no freezer here"};
    const auto failed = ask(&JobManager::suspendJob);
    ASSERT_FALSE(failed);
    EXPECT_NE(failed.error().message.find("no freezer here"), std::string::npos);
    EXPECT_EQ(shownState(*manager->job("sge.1")), ShownState::Running);
}

} // namespace
} // namespace pinfold::test
