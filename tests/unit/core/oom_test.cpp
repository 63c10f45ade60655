// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests out-of-memory kills: which limit caused the kill, where pinfoldd reports the kill, and how the job ends.
#include "base/parse.hpp"
#include "tests/unit/core/output_fixture.hpp"

#include <poll.h>
#include <unistd.h>

namespace pinfold::test {
namespace {

class OomTest : public OutputTest {
protected:
    void record(const std::string& text) const {
        const auto line = "4,1," + std::to_string(toUsec(loop.bootTime() + 100s)) + ",-;" + text + "\n";
        ASSERT_EQ(::send(kmsg.get(), line.data(), line.size(), 0), static_cast<ssize_t>(line.size()));
    }
    void kernelSays(const std::string& limitCgroup, pid_t victim, const char* invoker = "hog", int invokerPid = 77) {
        record(std::string(invoker) + " invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0");
        record("CPU: 0 PID: " + std::to_string(invokerPid) + " Comm: " + invoker + " Not tainted");
        if (!limitCgroup.empty()) {
            record("Memory cgroup stats for " + limitCgroup + ":");
            record("anon 60000000\\x0afile 4096\\x0akernel 7\\x0ashmem 1024");
        }
        record("oom-kill:constraint=X,nodemask=(null),cpuset=/,mems_allowed=0," +
               (limitCgroup.empty() ? std::string("global_oom") : "oom_memcg=" + limitCgroup) + ",task_memcg=" + kScope +
               ",task=hog,pid=" + std::to_string(victim) + ",uid=1000");
        record((limitCgroup.empty() ? "Out of memory" : "Memory cgroup out of memory") +
               (": Killed process " + std::to_string(victim)) +
               " (hog) total-vm:9kB, anon-rss:58000kB, file-rss:0kB, shmem-rss:0kB, UID:1000");
    }
    /// Sets the kernel's counters for the job's slice. The counters of the slice include the events in the cgroups below the
    /// slice.
    void count(std::uint64_t limitsHit, std::uint64_t kills) {
        node.setFile(kSlice, "memory.events",
                     "low 0\nhigh 0\nmax 9\noom " + std::to_string(limitsHit) + "\noom_kill " + std::to_string(kills) + "\n");
        loop.waitForEvent(1000);
    }
    void start(ResourceLimits limits = {}, const ChildProcess* supervisor = nullptr) {
        if (!limits.memoryMax)
            limits.memoryMax = 64 << 20;
        node.setFile("/batch.slice/batch-sge.1.slice", "memory.events", "oom 0\noom_kill 0\n");
        createWith(leader, limits, supervisor);
    }
    std::string said() const {
        std::array<char, 1000> text{};
        pollfd poller{output.get(), POLLIN, 0};
        ::poll(&poller, 1, 5000);
        const auto length = ::read(output.get(), text.data(), text.size());
        return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(0, length))};
    }
};

TEST_F(OomTest, ofTheOwnLimitEndsTheWholeJobAndIsSaidAtOnce) {
    start();
    const auto victim = static_cast<std::uint32_t>(leader.pid());
    kernelSays(kSlice, leader.pid());
    count(102, 1); // the kernel counts failed attempts to reclaim memory as "oom"
    EXPECT_EQ(said(), "Cgroup memory limit exceeded: Killed process " + std::to_string(leader.pid()) +
                          " (hog), resident 56.6M, limit 64M, peak 4K, anonymous 57.2M, shared 1K, page cache 3K, "
                          "job sge.1 on this node, " +
                          formatUtc(loop.realTime()) + "\n");
    EXPECT_EQ(observer.log.back(), "oom sge.1 own-limit");
    EXPECT_TRUE(node.applyCgroupKills()) << "what the kernel left of it goes too, without a grace";
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    const auto receipt = receipts()[0];
    EXPECT_EQ(receipt.result, JobResult::OutOfMemory);
    ASSERT_TRUE(receipt.oom);
    EXPECT_EQ(receipt.oom->cause, OomCause::OwnLimit);
    EXPECT_EQ(receipt.oom->victim, victim);
    EXPECT_EQ(receipt.oom->victimName, "hog");
    EXPECT_EQ(receipt.oom->limit, 64U << 20);
    EXPECT_EQ(receipt.usage.memoryPeakAnon, 60000000U);
    EXPECT_EQ(receipt.usage.memoryPeakFile, 4096U);
    EXPECT_EQ(receipt.usage.memoryPeakShmem, 1024U);
    EXPECT_EQ(receipt.usage.memoryNeed, 60001024U);
    EXPECT_EQ(receipt.usage.oomEvents, 102U);
}

TEST_F(OomTest, causesByWhoseLimitItWas) {
    struct Row {
        const char* limit;
        std::uint64_t limitsHit;
        const char* invoker;
        int invokerPid;
        const char* cause;
    };
    int number = 0;
    for (const auto& row :
         {Row{kScope, 1, "hog", 77, "own-limit"}, Row{"/batch.slice", 0, "hog", 77, "node"}, Row{"", 0, "hog", 77, "node"},
          Row{"", 0, "systemd", 1, "node"}, Row{kSlice, 1, "systemd", 1, "administrator"}}) {
        auto process = child();
        node.setFile(kSlice, "memory.events", "oom 0\noom_kill 0\n");
        createWith(process, {});
        kernelSays(row.limit, process.pid(), row.invoker, row.invokerPid);
        count(row.limitsHit, 1);
        EXPECT_EQ(observer.log.back(), std::string("oom sge.1 ") + row.cause) << row.limit;
        end(process);
        EXPECT_EQ(receipts().size(), static_cast<std::size_t>(++number));
    }
}

TEST_F(OomTest, withoutTheKernelsLogTheCountersDecide) {
    crash();
    kernelLogReadable = false;
    restart();
    start();
    count(3, 1);
    EXPECT_EQ(observer.log.back(), "oom sge.1 own-limit");
    EXPECT_TRUE(
        said().starts_with("Cgroup memory limit exceeded: Killed process (the kernel's log does not say which), limit 64M"));
    end(leader);
    EXPECT_EQ(receipts()[0].oom->victim, std::nullopt);
    auto other = child();
    node.setFile(kSlice, "memory.events", "oom 0\noom_kill 0\n");
    createWith(other, {});
    count(0, 2);
    EXPECT_EQ(observer.log.back(), "oom sge.1 node");
}

TEST_F(OomTest, aLineThatNeverComesIsNotWaitedForLong) {
    start();
    count(1, 1);
    loop.advance(900ms);
    EXPECT_NE(observer.log.back(), "oom sge.1 own-limit") << "the kernel counts before it writes";
    loop.advance(150ms);
    EXPECT_EQ(observer.log.back(), "oom sge.1 own-limit");
}

TEST_F(OomTest, aLineThatCameWhilePinfolddWasHeldUpIsRead) {
    start();
    count(1, 1);
    kernelSays(kSlice, leader.pid());
    loop.pause(1100ms);
    EXPECT_EQ(observer.log.back(), "oom sge.1 own-limit");
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].oom->victimName, "hog");
}

TEST_F(OomTest, isTheCauseAlsoWhenTheSigtermOfPid1EndedTheLeader) {
    for (const bool isLogged : {true, false}) {
        auto process = child();
        auto supervisor = child();
        node.setFile(kSlice, "memory.events", "oom 0\noom_kill 0\n");
        createWith(process, {}, &supervisor);
        if (isLogged)
            kernelSays(kSlice, 99999);
        node.setFile(kSlice, "memory.events", "oom 1\noom_kill 1\n");
        node.vanish(process.pid());
        process.end();
        manager->endJob(root, "sge.1", {{.status = {}, .signal = SIGTERM}, {}}, [](const Result<Receipt>&) {});
        const auto known = receipts().size();
        for (int i = 0; i < 10 && receipts().size() == known; ++i)
            loop.waitForEvent(200);
        ASSERT_EQ(receipts().size(), known + 1);
        const auto receipt = receipts()[0];
        EXPECT_EQ(receipt.result, JobResult::OutOfMemory) << isLogged;
        EXPECT_EQ(receipt.exit.signal, SIGTERM);
        EXPECT_EQ(receipt.oom->victim, isLogged ? std::optional(99999U) : std::nullopt);
    }
}

TEST_F(OomTest, pageCacheAtTheLimitIsNone) {
    start();
    node.setFile(kSlice, "memory.events", "low 0\nhigh 4\nmax 281\noom 0\noom_kill 0\n");
    loop.waitForEvent(200);
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_FALSE(receipts()[0].oom);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
    EXPECT_EQ(receipts()[0].usage.memoryMaxEvents, 281U);
}

TEST_F(OomTest, ofOneProcessLetsTheJobGoOn) {
    ResourceLimits limits;
    limits.oomPolicy = OomPolicy::Process;
    auto supervisor = child();
    start(limits, &supervisor);
    kernelSays(kSlice, 99999);
    count(1, 1);
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    EXPECT_TRUE(said().starts_with("Cgroup memory limit exceeded: Killed process 99999 (hog)"));
    count(2, 2);
    EXPECT_EQ(std::count(observer.log.begin(), observer.log.end(), "oom sge.1 own-limit"), 1) << "once for a job";
    manager->endJob(root, "sge.1", {{.status = 3, .signal = {}}, {}}, [](const Result<Receipt>&) {});
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::Exited);
    EXPECT_EQ(receipts()[0].exit.status, 3);
    EXPECT_EQ(receipts()[0].oom->victim, 99999U);
}

TEST_F(OomTest, isSeenAlsoWhenTheLeadersEndIsSeenFirst) {
    start();
    kernelSays(kSlice, leader.pid());
    node.setFile(kSlice, "memory.events", "oom 1\noom_kill 1\n");
    node.vanish(leader.pid());
    leader.end();
    for (int i = 0; i < 10 && receipts().empty(); ++i)
        loop.waitForEvent(200);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::OutOfMemory);
    EXPECT_EQ(receipts()[0].oom->victimName, "hog");
}

TEST_F(OomTest, whileThePinfolddIsAwayIsFoundAfterwards) {
    start();
    crash();
    node.setFile(kSlice, "memory.events", "oom 1\noom_kill 1\n");
    node.vanish(leader.pid());
    leader.end();
    restart();
    loop.settle();
    for (int i = 0; i < 10 && receipts().empty(); ++i)
        loop.waitForEvent(200);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::OutOfMemory);
    EXPECT_FALSE(observer.receipts[0].oomSaid) << "the job's output is gone: the supervisor says it";
}

TEST_F(OomTest, bySystemdOomd) {
    start();
    node.onOomdKill(kScope);
    EXPECT_EQ(observer.log.back(), "oom sge.1 oomd");
    EXPECT_TRUE(said().starts_with("systemd-oomd acted on memory pressure: Killed process"));
    end(leader);
    EXPECT_EQ(receipts()[0].result, JobResult::OutOfMemory);
    node.onOomdKill("/system.slice/other.service");
}

TEST_F(OomTest, onceIsOnceOverARestart) {
    ResourceLimits limits;
    limits.oomPolicy = OomPolicy::Process;
    start(limits);
    kernelSays(kSlice, 99999);
    count(1, 1);
    crash();
    restart();
    loop.settle();
    EXPECT_EQ(std::count(observer.log.begin(), observer.log.end(), "oom sge.1 own-limit"), 1);
    EXPECT_EQ(records.load()->records.front().oom->victim, 99999U);
}

} // namespace
} // namespace pinfold::test
