// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/kernel_log.hpp"

#include "tests/support/cpp/manual_event_loop.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <array>
#include <vector>

namespace pinfold {
namespace {

constexpr const char* kSlice = "/batch.slice/batch-sge.1.slice";

/// Each read returns one record, as a read of /dev/kmsg does.
class KernelLogTest : public ::testing::Test {
protected:
    KernelLogTest() {
        std::array<int, 2> ends{};
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
        writer_.reset(ends[1]);
        log = std::make_unique<KernelLog>(UniqueFd(ends[0]));
        log->onOom = [this](const OomReport& report) { reports.push_back(report); };
    }
    void raw(const std::string& record) const {
        EXPECT_EQ(::send(writer_.get(), record.data(), record.size(), 0), static_cast<ssize_t>(record.size()));
    }
    void kernel(const std::string& text) { raw("4," + std::to_string(++sequence_) + ",98765432,-;" + text + "\n"); }

    test::ManualEventLoop loop;
    std::unique_ptr<KernelLog> log;
    std::vector<OomReport> reports;

private:
    UniqueFd writer_;
    int sequence_ = 100;
};

std::string summary(const std::string& limit, const std::string& task = "python3") {
    return std::string("oom-kill:constraint=") + (limit.empty() ? "CONSTRAINT_NONE" : "CONSTRAINT_MEMCG") +
           ",nodemask=(null),cpuset=job-sge.1.scope,mems_allowed=0," + (limit.empty() ? "global_oom" : "oom_memcg=" + limit) +
           ",task_memcg=" + kSlice + "/job-sge.1.scope,task=" + task + ",pid=4711,uid=1000";
}

std::string killed(const std::string& name = "python3") {
    return "Memory cgroup out of memory: Killed process 4711 (" + name +
           ") total-vm:110456kB, anon-rss:62000kB, file-rss:3000kB, shmem-rss:8kB, UID:1000 pgtables:180kB oom_score_adj:0";
}

// The following lines are from Linux 6.1.
TEST_F(KernelLogTest, anOwnLimit) {
    kernel("python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0");
    kernel("CPU: 1 PID: 4711 Comm: python3 Not tainted 6.1.0-37-cloud-amd64 #1 Debian 6.1.140-1");
    kernel("memory: usage 65536kB, limit 65536kB, failcnt 33");
    kernel(std::string("Memory cgroup stats for ") + kSlice + R"(:)");
    kernel(R"(anon 64000000\x0afile 1536000\x0akernel 400000\x0akernel_stack 16384)");
    kernel("[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name");
    kernel(summary(kSlice));
    kernel(killed());
    log->drain();
    ASSERT_EQ(reports.size(), 1U);
    const auto& report = reports[0];
    EXPECT_EQ(report.time, fromUsec<MonotonicTime>(98765432));
    EXPECT_EQ(report.pid, 4711);
    EXPECT_EQ(report.name, "python3");
    EXPECT_EQ(report.rss, (62000U + 3000 + 8) * 1024);
    EXPECT_EQ(report.limitCgroup, kSlice);
    EXPECT_EQ(report.taskCgroup, std::string(kSlice) + "/job-sge.1.scope");
    EXPECT_EQ(report.anon, 64000000U);
    EXPECT_EQ(report.file, 1536000U);
    EXPECT_FALSE(report.byHand);
}

// Linux 6.12 writes each line of a cgroup's memory statistics as a separate record of the kernel's log.
TEST_F(KernelLogTest, statisticsInRecordsOfTheirOwn) {
    kernel("hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0");
    kernel("CPU: 0 UID: 1000 PID: 4711 Comm: hog Not tainted 6.12.48+deb13-cloud-amd64 #1");
    kernel(std::string("Memory cgroup stats for ") + kSlice + ":");
    kernel("anon 5");
    kernel("file 7");
    kernel("anon_thp 9");
    kernel(summary(kSlice));
    kernel(killed("hog"));
    log->drain();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].anon, 5U);
    EXPECT_EQ(reports[0].file, 7U);
}

TEST_F(KernelLogTest, theNodesMemory) {
    kernel("systemd invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0");
    kernel("CPU: 1 PID: 1 Comm: systemd Not tainted 6.1.0");
    kernel(summary(""));
    kernel("Out of memory: " + killed().substr(29));
    log->drain();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].limitCgroup, "");
    EXPECT_EQ(reports[0].taskCgroup, std::string(kSlice) + "/job-sge.1.scope");
    EXPECT_EQ(reports[0].anon, std::nullopt);
    EXPECT_FALSE(reports[0].byHand) << "PID 1 needed memory for itself";
}

TEST_F(KernelLogTest, aLoweredLimitAndSysrqAreByHand) {
    kernel("systemd invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0");
    kernel("CPU: 1 PID: 1 Comm: systemd Not tainted 6.1.0");
    kernel(summary(kSlice));
    kernel(killed());
    kernel("kworker/0:1 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=-1, oom_score_adj=0");
    kernel("CPU: 1 PID: 31 Comm: kworker/0:1 Not tainted 6.1.0");
    kernel(summary(""));
    kernel(killed());
    kernel("python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0");
    kernel(summary(kSlice));
    kernel(killed());
    log->drain();
    ASSERT_EQ(reports.size(), 3U);
    EXPECT_TRUE(reports[0].byHand);
    EXPECT_TRUE(reports[1].byHand);
    EXPECT_FALSE(reports[2].byHand) << "nothing of one incident stays for the next";
}

// If a cgroup has memory.oom.group, the kernel kills all processes of the cgroup, and writes a line for each process. The
// kernel's log is rate-limited.
TEST_F(KernelLogTest, furtherVictimsHaveNoCgroup) {
    kernel(summary(kSlice));
    kernel(killed());
    kernel(std::string("Tasks in ") + kSlice + "/job-sge.1.scope are going to be killed due to memory.oom.group set");
    kernel(
        "Memory cgroup out of memory: Killed process 4712 (sh) total-vm:4kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:0");
    log->drain();
    ASSERT_EQ(reports.size(), 2U);
    EXPECT_EQ(reports[1].pid, 4712);
    EXPECT_EQ(reports[1].taskCgroup, "");
}

TEST_F(KernelLogTest, namesThatImitateTheKernel) {
    for (const auto* name : {"a) total-vm:1kB,", "(x),pid=1,uid=0", ",task=z", R"(\x0aoom-kill:)", R"(\x1b[31m)"}) {
        reports.clear();
        kernel(summary(kSlice, name));
        kernel(killed(name));
        log->drain();
        ASSERT_EQ(reports.size(), 1U) << name;
        EXPECT_EQ(reports[0].rss, (62000U + 3000 + 8) * 1024) << name;
        EXPECT_EQ(reports[0].taskCgroup, std::string(kSlice) + "/job-sge.1.scope") << name;
        EXPECT_EQ(reports[0].name.find('\x1b'), std::string::npos);
        EXPECT_EQ(reports[0].name.find('\n'), std::string::npos);
    }
}

// A user can choose the names of processes. A user can also choose the names of cgroups below the user's own manager.
TEST_F(KernelLogTest, nobodyForgesAnothersCgroup) {
    const std::string other = "/batch.slice/batch-sge.7.slice/job-sge.7.scope";
    const std::string own = "/user.slice/user-1001.slice/user@1001.service/x";
    const std::string begin = "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=";
    const std::string end = ",pid=4711,uid=1001";
    for (const auto& line : {
             begin + "x,mems_allowed=0,oom_memcg=" + own + ",task_memcg=" + own + ",task_memcg=" + other + ",task=y,task=x" + end,
             begin + "x,mems_allowed=0,oom_memcg=" + own + ",task_memcg=" + other + ",task_memcg=" + own + ",task=x" + end,
             begin + "x,mems_allowed=0,oom_memcg=" + own + ",oom_memcg=" + other + ",task_memcg=" + own + ",task=x" + end,
             begin + "x,oom_memcg=" + other + ",mems_allowed=0,global_oom,task_memcg=" + own + ",task=x" + end,
             begin + "x,task_memcg=" + other + ",task=y,mems_allowed=0,global_oom,task_memcg=" + own + ",task=x" + end,
         }) {
        kernel(line);
        kernel(killed());
    }
    kernel(summary(kSlice));
    kernel(killed());
    log->drain();
    ASSERT_EQ(reports.size(), 1U) << "the next one is believed";
    EXPECT_EQ(reports[0].limitCgroup, kSlice);
}

TEST_F(KernelLogTest, onlyTheKernelIsBelieved) {
    raw("12,7,1,-;" + summary(kSlice) + "\n"); // logger(1) uses facility 1
    raw("12,8,1,-;" + killed() + "\n");
    for (const auto* odd : {"", ";", "4", "4,5;", "x,1,2,-;Killed process 1 (a) total-vm:1kB", "4,1,,-;", "4,,,;Killed process"})
        raw(odd[0] == '\0' ? std::string("\n") : std::string(odd));
    log->drain();
    EXPECT_TRUE(reports.empty());
}

TEST_F(KernelLogTest, isReadAsItComes) {
    kernel(summary(kSlice));
    kernel(killed());
    loop.waitForEvent(10);
    EXPECT_TRUE(reports.empty()) << "nobody is ready for it";
    log->watch(loop);
    loop.waitForEvent(1000);
    EXPECT_EQ(reports.size(), 1U);
}

TEST_F(KernelLogTest, theNameOfACrashedProgramIsNoReport) {
    const std::string crash = "[16354]: segfault at 0 ip 000000000040161e sp 00007ffd8b92be30 error 6 in ";
    kernel("hog invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0");
    kernel("a" + crash + "x invoked oom-killer: order=-1,[161e,401000+78000]");
    kernel("CPU: 1 PID: 1" + crash + "x Comm: y[161e,401000+78000]");
    kernel("CPU: 1" + crash + "x PID: 1 Comm: y[161e,401000+78000]");
    kernel("Memory cgroup stats for /batch.slice/batch-sge.1.slice:");
    kernel("anon 7" + crash + "x[161e,401000+78000]");
    kernel("a" + crash + "Killed process 4242 (evil) total-vm:1kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB[161e,401000+78000]");
    log->drain();
    EXPECT_TRUE(reports.empty());
    kernel(
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/batch.slice/batch-sge.1.slice,"
        "task_memcg=/batch.slice/batch-sge.1.slice/job-sge.1.scope,task=hog,pid=4711,uid=1000");
    kernel(
        "Memory cgroup out of memory: Killed process 4711 (hog) total-vm:4kB, anon-rss:2kB, file-rss:0kB, shmem-rss:0kB, UID:0");
    log->drain();
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].pid, 4711);
    EXPECT_FALSE(reports[0].byHand);
    EXPECT_FALSE(reports[0].anon);
}

} // namespace
} // namespace pinfold
