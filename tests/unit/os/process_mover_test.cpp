// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/process_mover.hpp"

#include "tests/support/cpp/sleeping_process.hpp"
#include "tests/support/cpp/stat_line.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

namespace pinfold::test {
namespace {

constexpr const char* kScope = "/batch.slice/batch-sge.1.slice/job-sge.1.scope";

/// In these tests, a process has ended, and a new process has the process id of the ended process. The new process is a real
/// child of the test.
class ProcessMoverTest : public TemporaryDirectory {
protected:
    ProcessMoverTest() : mover(CgroupTree(top()), ProcessTable(top())) {
        for (const char* path : {kScope, "/system.slice/ssh.service", "/pinfold.slice"})
            write("sys/fs/cgroup" + std::string(path) + "/cgroup.procs", "");
        show(kParent, "/system.slice/ssh.service", 0, 1);
    }
    void show(pid_t pid, const std::string& cgroup, uid_t uid, pid_t parent) const {
        const auto proc = "proc/" + std::to_string(pid);
        const auto id = std::to_string(uid);
        write(proc + "/stat", statLine({.pid = pid, .parent = parent}));
        write(proc + "/status", "Uid:\t" + id + "\t" + id + "\t" + id + "\t" + id + "\n");
        write(proc + "/cgroup", "0::" + cgroup + "\n");
    }
    std::vector<std::string> clear(const std::vector<Newcomer>& newcomers = {}) const {
        return mover.clear(kScope, newcomers, owner);
    }
    void isIn(const std::string& cgroup, std::initializer_list<pid_t> pids) const {
        std::string text;
        for (const auto pid : pids)
            text += std::to_string(pid) + "\n";
        write("sys/fs/cgroup" + cgroup + "/cgroup.procs", text);
    }
    std::string moved(const std::string& cgroup) const {
        std::string text;
        std::ifstream(top() / ("sys/fs/cgroup" + cgroup + "/cgroup.procs")) >> text;
        return text;
    }

    static constexpr pid_t kParent = 4'999'999;
    const UserIds owner{1000, {{100'000, 165'535}}};
    KernelProcessMover mover;
    SleepingProcess stranger;
};

TEST_F(ProcessMoverTest, whoWasMovedInAnothersPlaceGoesToWhereItsParentIs) {
    show(stranger.pid(), kScope, 0, kParent);
    EXPECT_NE(mover.putBack(stranger.pid(), kScope, owner).find("put back to /system.slice/ssh.service"), std::string::npos);
    EXPECT_EQ(moved("/system.slice/ssh.service"), std::to_string(stranger.pid()));
}

TEST_F(ProcessMoverTest, whoIsElsewhereStaysThere) {
    show(stranger.pid(), "/system.slice/cron.service", 0, kParent);
    EXPECT_EQ(mover.putBack(stranger.pid(), kScope, owner), "");
    EXPECT_EQ(moved("/system.slice/ssh.service"), "");
}

TEST_F(ProcessMoverTest, whoseParentHasGoneIsAStray) {
    show(stranger.pid(), kScope, 0, kParent - 1);
    EXPECT_NE(mover.putBack(stranger.pid(), kScope, owner), "");
    EXPECT_EQ(moved("/pinfold.slice"), std::to_string(stranger.pid()));
}

TEST_F(ProcessMoverTest, theOwnersOwnIsKilled) {
    show(stranger.pid(), kScope, owner.user, kParent);
    EXPECT_NE(mover.putBack(stranger.pid(), kScope, owner).find("has been killed"), std::string::npos);
    EXPECT_EQ(moved("/system.slice/ssh.service"), "");
    pollfd end{stranger.pidfd(), POLLIN, 0};
    EXPECT_EQ(::poll(&end, 1, kDeadlineMs), 1);
}

TEST_F(ProcessMoverTest, soIsOneOfTheOwnersSubordinateIds) {
    show(stranger.pid(), kScope, 100'007, kParent);
    EXPECT_NE(mover.putBack(stranger.pid(), kScope, owner).find("has been killed"), std::string::npos);
    EXPECT_EQ(moved("/system.slice/ssh.service"), "");
}

TEST_F(ProcessMoverTest, whatAStrangerHasForkedGoesToWhereTheStrangerIs) {
    show(stranger.pid(), kScope, 0, kParent); // pinfold moved kParent into the job by mistake, and then moved kParent back
    isIn(kScope, {stranger.pid()});
    ASSERT_FALSE(clear().empty());
    EXPECT_NE(clear().front().find("put back to /system.slice/ssh.service"), std::string::npos);
    EXPECT_EQ(moved("/system.slice/ssh.service"), std::to_string(stranger.pid()));
}

TEST_F(ProcessMoverTest, whatTheJobsOwnProcessesHaveForkedStays) {
    SleepingProcess newcomer;
    std::vector<Newcomer> newcomers;
    newcomers.push_back({newcomer.pid(), *openPidfd(newcomer.pid())});
    show(newcomer.pid(), kScope, 0, kParent);
    show(stranger.pid(), kScope, 0, newcomer.pid());
    isIn(kScope, {newcomer.pid(), stranger.pid()});
    EXPECT_TRUE(clear(newcomers).empty());
    EXPECT_EQ(moved("/system.slice/ssh.service"), "");
}

TEST_F(ProcessMoverTest, whatIsOfTheOwnerStays) {
    show(stranger.pid(), kScope, owner.user, kParent);
    isIn(kScope, {stranger.pid()});
    EXPECT_TRUE(clear().empty());
}

TEST_F(ProcessMoverTest, aPlaceholderStays) {
    show(stranger.pid(), kScope, 0, ::getpid());
    isIn(kScope, {stranger.pid()});
    EXPECT_TRUE(clear().empty());
}

TEST_F(ProcessMoverTest, aNumberWhoseProcessHasEndedIsNotWritten) {
    SleepingProcess ended;
    auto pidfd = *openPidfd(ended.pid());
    ended.kill();
    ended.reap();
    show(stranger.pid(), "/system.slice/ssh.service", 0, kParent);
    const auto outcome = mover.move({stranger.pid(), std::move(pidfd)}, kScope, owner);
    EXPECT_EQ(outcome.result.error().code, ErrorCode::PidGone);
    EXPECT_EQ(moved(kScope), "");
}

} // namespace
} // namespace pinfold::test
