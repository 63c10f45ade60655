// SPDX-License-Identifier: LGPL-2.1-or-later
// The tests of this file use real child processes. What the fake /proc says about a child can differ from the truth.
#include "strays/sweep.hpp"

#include "tests/support/cpp/sleeping_process.hpp"
#include "tests/support/cpp/stat_line.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <map>
#include <memory>

namespace pinfold::test {
namespace {

constexpr const char* kLoginSession = "/user.slice/user-1000.slice/session-1.scope";

class StrayScannerTest : public TemporaryDirectory {
protected:
    StrayScannerTest() {
        setHiding("rw");
        write("proc/self/status", "CapEff:\t0000000000000000\n");
        policy.config.minAge = 0s;
    }

    void setHiding(const std::string& options) const {
        write("proc/self/mountinfo",
              "20 1 8:1 / / rw - ext4 /dev/sda rw\n22 20 0:21 / /proc rw,nosuid shared:5 - proc proc " + options + "\n");
    }
    void show(pid_t pid, const std::string& cgroup = kLoginSession, uid_t uid = 1000, unsigned started = 5) const {
        const auto directory = "proc/" + std::to_string(pid) + "/";
        write(directory + "stat", statLine({.pid = pid, .terminal = 34819, .started = started}));
        const auto id = std::to_string(uid);
        write(directory + "status",
              "Uid:\t" + id + "\t" + id + "\t" + id + "\t" + id + "\nGid:\t" + id + "\t0\t0\t0\nGroups:\t77 78 \n");
        write(directory + "cgroup", "0::" + cgroup + "\n");
        write(directory + "cmdline", std::string_view("sleep\0"
                                                      "1000\0",
                                                      11));
    }
    StrayScanner scanner() {
        return {top(),
                [this]() -> Result<std::vector<LiveJob>> {
                    if (onAsked)
                        onAsked();
                    return jobs;
                },
                policy};
    }
    /// Maps each process to its actions, in the order in which the scanner reported the actions.
    std::map<pid_t, std::vector<StrayAction::Kind>> sweepAll(StraysMode mode) {
        std::map<pid_t, std::vector<StrayAction::Kind>> told;
        const auto watch = scanner();
        auto findings = watch.look(Pidfds::Keep);
        EXPECT_TRUE(findings.areSure());
        if (beforeSweep)
            beforeSweep();
        result = sweep(watch, std::move(findings.strays), mode, [&told](const Stray& stray, const StrayAction& action) {
            told[stray.process.info.pid].push_back(action.kind);
        });
        return told;
    }

    StrayPolicy policy;
    Result<std::vector<LiveJob>> jobs{std::vector<LiveJob>{}};
    std::function<void()> onAsked;
    std::function<void()> beforeSweep;
    Result<void> result;
};

using Kinds = std::vector<StrayAction::Kind>;

} // namespace

TEST_F(StrayScannerTest, everyFieldIsRead) {
    const SleepingProcess child;
    show(child.pid());
    const auto findings = scanner().look(Pidfds::Keep);
    EXPECT_TRUE(findings.areSure());
    ASSERT_EQ(findings.strays.size(), 1U);
    const auto& info = findings.strays[0].process.info;
    EXPECT_EQ(info.pid, child.pid());
    EXPECT_EQ(info.parent, 1);
    EXPECT_EQ(info.terminal, 34819U);
    EXPECT_EQ(info.groups, (std::vector<gid_t>{1000, 77, 78}));
    EXPECT_EQ(info.command, "sleep 1000");
    EXPECT_EQ(findings.strays[0].process.cgroup, kLoginSession);
    EXPECT_FALSE(hasEnded(findings.strays[0].process.pidfd.get()));
    EXPECT_LT(scanner().look(Pidfds::Close).strays[0].process.pidfd.get(), 0);
}

TEST_F(StrayScannerTest, pid1AndItselfAreNone) {
    show(1);
    show(::getpid());
    EXPECT_TRUE(scanner().look(Pidfds::Keep).strays.empty());
}

TEST_F(StrayScannerTest, whatHasEndedIsNoProblem) {
    SleepingProcess child;
    show(child.pid());
    child.kill();
    const auto findings = scanner().look(Pidfds::Keep);
    EXPECT_TRUE(findings.areSure());
    EXPECT_TRUE(findings.strays.empty());
}

TEST_F(StrayScannerTest, aHalfReadProcIsNotSure) {
    const SleepingProcess child;
    show(child.pid());
    write("proc/" + std::to_string(child.pid()) + "/stat", "7 (x");
    EXPECT_FALSE(scanner().look(Pidfds::Keep).areSure());
    std::filesystem::remove_all(top() / "proc");
    EXPECT_FALSE(scanner().look(Pidfds::Keep).unseen.empty());
}

TEST_F(StrayScannerTest, noMoreThanAFewProblemsAreNamed) {
    std::vector<std::unique_ptr<SleepingProcess>> children;
    for (int i = 0; i < 13; ++i) {
        children.push_back(std::make_unique<SleepingProcess>());
        show(children.back()->pid());
        write("proc/" + std::to_string(children.back()->pid()) + "/stat", "7 (x");
    }
    const auto unseen = scanner().look(Pidfds::Keep).unseen;
    ASSERT_EQ(unseen.size(), 11U);
    EXPECT_EQ(unseen.back(), "and 3 more");
}

TEST_F(StrayScannerTest, aProcThatHidesIsNotSure) {
    for (const char* options : {"rw,hidepid=invisible", "rw,hidepid=2", "rw,gid=5,hidepid=noaccess", "rw,hidepid=ptraceable"}) {
        setHiding(options);
        ASSERT_EQ(scanner().look(Pidfds::Keep).unseen.size(), 1U) << options;
    }
    write("proc/self/status",
          "CapEff:\t0000000000080000\n"); // with CAP_SYS_PTRACE, a program is allowed to examine all processes
    EXPECT_TRUE(scanner().look(Pidfds::Keep).areSure());
    write("proc/self/status", "CapEff:\t0000000000000000\n");
    setHiding("rw,hidepid=off");
    EXPECT_TRUE(scanner().look(Pidfds::Keep).areSure());
}

TEST_F(StrayScannerTest, withoutADescriptorLeftNothingIsSure) {
    const SleepingProcess child;
    show(child.pid());
    const auto watch = scanner();
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit few{4, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
    const auto findings = watch.look(Pidfds::Close);
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_FALSE(findings.areSure());
}

TEST_F(StrayScannerTest, killTakesStraysAlone) {
    const SleepingProcess stray;
    const SleepingProcess other;
    const SleepingProcess system;
    show(stray.pid());
    show(other.pid(), "/system.slice/site.service");
    show(system.pid(), kLoginSession, 33);
    const auto told = sweepAll(StraysMode::Kill);
    EXPECT_EQ(told,
              (std::map<pid_t, Kinds>{{stray.pid(), {StrayAction::Kind::Kill}}, {other.pid(), {StrayAction::Kind::Spare}}}));
    EXPECT_TRUE(hasEnded(stray.pidfd()));
    EXPECT_FALSE(hasEnded(other.pidfd()));
    EXPECT_FALSE(hasEnded(system.pidfd()));
}

TEST_F(StrayScannerTest, whoCannotBeReadIsKilledByName) {
    const SleepingProcess hanging;
    show(hanging.pid());
    const auto file = top() / "proc" / std::to_string(hanging.pid()) / "cmdline";
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0); // a reader's open() of a pipe waits for a writer
    const auto findings = scanner().look(Pidfds::Close);
    EXPECT_TRUE(findings.areSure());
    ASSERT_EQ(findings.unread.size(), 1U);
    EXPECT_EQ(findings.unread.front(), "process " + std::to_string(hanging.pid()) +
                                           " of user 1000 cannot be examined: it hangs, and did not answer within 1 s");
    ASSERT_EQ(findings.strays.size(), 1U);
    EXPECT_EQ(findings.strays.front().process.info.command, "[x]");
    EXPECT_EQ(sweepAll(StraysMode::Kill), (std::map<pid_t, Kinds>{{hanging.pid(), {StrayAction::Kind::Kill}}}));
}

TEST_F(StrayScannerTest, ofProcessesThatAreNoStraysNoCommandLineIsRead) {
    const SleepingProcess legitimate;
    show(legitimate.pid(), kLoginSession, 33);
    const auto file = top() / "proc" / std::to_string(legitimate.pid()) / "cmdline";
    std::filesystem::remove(file);
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_TRUE(scanner().look(Pidfds::Close).unread.empty());
}

TEST_F(StrayScannerTest, whoHasMovedSinceIsSpared) {
    const SleepingProcess intoJob;
    const SleepingProcess otherUser;
    const SleepingProcess laterOne;
    for (const auto* child : {&intoJob, &otherUser, &laterOne})
        show(child->pid());
    beforeSweep = [&] {
        show(intoJob.pid(), "/batch.slice/batch-sge.1.slice/job-sge.1.scope");
        show(otherUser.pid(), kLoginSession, 0);
        show(laterOne.pid(), kLoginSession, 1000, 6);
    };
    for (const auto& [pid, kinds] : sweepAll(StraysMode::Kill))
        EXPECT_EQ(kinds, Kinds{StrayAction::Kind::Spare});
    for (const auto* child : {&intoJob, &otherUser, &laterOne})
        EXPECT_FALSE(hasEnded(child->pidfd()));
}

TEST_F(StrayScannerTest, stopKillsWhatOutlastsTheGrace) {
    const SleepingProcess heeds;
    const SleepingProcess deaf([] { ::signal(SIGTERM, SIG_IGN); });
    show(heeds.pid());
    show(deaf.pid());
    policy.config.grace = 300ms;
    const auto told = sweepAll(StraysMode::Stop);
    EXPECT_TRUE(result);
    EXPECT_EQ(told.at(heeds.pid()), Kinds{StrayAction::Kind::Terminate});
    EXPECT_EQ(told.at(deaf.pid()), (Kinds{StrayAction::Kind::Terminate, StrayAction::Kind::Kill}));
    EXPECT_TRUE(hasEnded(heeds.pidfd()));
    EXPECT_TRUE(hasEnded(deaf.pidfd()));
}

TEST_F(StrayScannerTest, knowledgeLostInTheGraceKillsNobody) {
    const SleepingProcess deaf([] { ::signal(SIGTERM, SIG_IGN); });
    show(deaf.pid());
    policy.config.grace = 100ms;
    beforeSweep = [this] { jobs = Error{ErrorCode::TimedOut, "pinfoldd did not answer"}; };
    const auto told = sweepAll(StraysMode::Stop);
    EXPECT_EQ(told.at(deaf.pid()), Kinds{StrayAction::Kind::Terminate});
    ASSERT_FALSE(result);
    EXPECT_NE(result.error().message.find("pinfoldd did not answer"), std::string::npos);
    EXPECT_FALSE(hasEnded(deaf.pidfd()));
}

TEST_F(StrayScannerTest, whoGetsAJobInTheGraceIsSparedWithWithoutJob) {
    const SleepingProcess deaf([] { ::signal(SIGTERM, SIG_IGN); });
    show(deaf.pid());
    policy.config.grace = 100ms;
    policy.config.withoutJob = true;
    beforeSweep = [this] {
        jobs = std::vector<LiveJob>{{"sge.1", 1000, "batch-sge.1.slice"}};
        ASSERT_TRUE(RecordStore(top() / "run/pinfold/jobs").prepare());
        ASSERT_TRUE(RecordStore(top() / "run/pinfold/jobs").save(JobRecord("id", "boot", *JobKey::parse("sge.1"))));
    };
    EXPECT_EQ(sweepAll(StraysMode::Stop).at(deaf.pid()), Kinds{StrayAction::Kind::Terminate});
    EXPECT_TRUE(result);
    EXPECT_FALSE(hasEnded(deaf.pidfd()));
}

TEST_F(StrayScannerTest, warnTouchesNobody) {
    const SleepingProcess child;
    show(child.pid());
    EXPECT_EQ(sweepAll(StraysMode::Warn).at(child.pid()), Kinds{StrayAction::Kind::Warning});
    EXPECT_FALSE(hasEnded(child.pidfd()));
}

} // namespace pinfold::test
