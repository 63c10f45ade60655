// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/process.hpp"

#include "base/escape.hpp"
#include "os/read_file.hpp"
#include "tests/support/cpp/sleeping_process.hpp"
#include "tests/support/cpp/stat_line.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <thread>

namespace pinfold::test {
namespace {

/// Starts a second thread, and then ends the main thread. The second thread runs until somebody kills the process.
void leaveOnlyAThread() {
    pthread_t thread{};
    ::pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
            for (;;)
                ::pause();
        },
        nullptr);
    // The thread does not call pthread_exit(), because glibc's pthread_exit() unwinds the stack of the test. The system call
    // `exit` ends only the calling thread, and unwinds nothing.
    ::syscall(SYS_exit, 0);
}

/// Makes a process whose main thread has ended while another thread runs.
class Headless {
public:
    Headless() {
        pid_ = forkDependent();
        if (pid_ == 0)
            leaveOnlyAThread();
        pidfd_ = *openPidfd(pid_);
    }
    Headless(const Headless&) = delete;
    Headless& operator=(const Headless&) = delete;
    ~Headless() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }
    int pidfd() const { return pidfd_.get(); }

private:
    pid_t pid_ = -1;
    UniqueFd pidfd_;
};

} // namespace

namespace {

class StuckProcess : public TemporaryDirectory {
protected:
    void show(const char* directory, char state, const char* wchan) const {
        write(std::filesystem::path("proc") / directory / "stat", statLine({.state = state}));
        write(std::filesystem::path("proc") / directory / "status", "Uid:\t1\t1\t1\t1\n");
        write(std::filesystem::path("proc") / directory / "wchan", wchan);
    }
};

} // namespace

TEST_F(StuckProcess, theWaitPointIsTheKernelsWord) {
    show("7", 'D', "percpu_rwsem_wait");
    const auto info = ProcessTable(top()).readStuck(7);
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(info->state, 'D');
    EXPECT_EQ(info->waitPoint, "percpu_rwsem_wait");
}

TEST_F(StuckProcess, anotherThreadThatHangsIsFoundBehindAMainThreadThatEnded) {
    show("7", 'Z', "0");
    show("7/task/7", 'Z', "0");
    show("7/task/8", 'S', "futex_wait_queue");
    show("7/task/9", 'D', "nfs_wait_bit_killable");
    const auto info = ProcessTable(top()).readStuck(7);
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(info->pid, 7);
    EXPECT_EQ(info->state, 'D');
    EXPECT_EQ(info->waitPoint, "nfs_wait_bit_killable");
}

TEST_F(StuckProcess, whatMayNotBeSeenIsUnknown) {
    show("7", 'D', "0");
    EXPECT_EQ(ProcessTable(top()).readStuck(7)->waitPoint, std::nullopt);
}

TEST(Process, aProcessIsReadAsItIs) {
    const auto before = BootClock::now();
    const SleepingProcess child;
    const auto info = ProcessTable().readWithCommand(child.pid());
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(info->pid, child.pid());
    EXPECT_EQ(info->realUid, ::getuid());
    EXPECT_EQ(info->effectiveUid, ::geteuid());
    EXPECT_EQ(info->savedUid, ::geteuid());
    EXPECT_FALSE(info->kernelThread);
    EXPECT_TRUE(info->state == 'S' || info->state == 'R') << info->state;
    EXPECT_GT(info->rss, 0U);
    // meson runs tests for another architecture in qemu. The command line of a test in qemu begins with the path of qemu.
    const auto name = printable(program_invocation_name);
    EXPECT_TRUE(info->command.starts_with(name) ||
                (info->command.starts_with("/usr/bin/qemu-") && info->command.find(" " + name) != std::string::npos))
        << info->command;
    // The kernel rounds the start time down to a clock tick of 10 ms.
    EXPECT_GE(info->started + 10ms, before);
    EXPECT_LE(info->started, BootClock::now());
}

TEST(Process, theStartStaysTheSame) {
    const SleepingProcess child;
    EXPECT_EQ(ProcessTable().read(child.pid())->started, ProcessTable().read(child.pid())->started);
}

TEST(Process, cpuTimeIsCounted) {
    const SleepingProcess child([] {
        rusage used{};
        while (used.ru_utime.tv_usec + used.ru_stime.tv_usec < 50'000 && used.ru_utime.tv_sec + used.ru_stime.tv_sec == 0)
            ::getrusage(RUSAGE_SELF, &used);
    });
    EXPECT_GE(ProcessTable().read(child.pid())->cpu, 30ms);
}

TEST(Process, everyNameIsRead) {
    for (const char* name : {"a b", ")", "a) R 1", "x\ny", "\nUid:\t7\t7", "\x1b[31m", "((()", " ", "\xff\xfe"}) {
        const SleepingProcess child([name] { ::prctl(PR_SET_NAME, name); });
        const auto info = ProcessTable().readWithCommand(child.pid());
        ASSERT_TRUE(info) << name;
        EXPECT_EQ(info->realUid, ::getuid()) << name;
        EXPECT_TRUE(info->state == 'S' || info->state == 'R') << name << info->state;
        EXPECT_GT(info->started, BootTime()) << name;
    }
}

TEST(Process, aZombieShowsItsNameAndHasEnded) {
    SleepingProcess child([] { ::prctl(PR_SET_NAME, "odd ) \nname"); });
    EXPECT_FALSE(hasEnded(child.pidfd()));
    child.kill();
    EXPECT_TRUE(hasEnded(child.pidfd()));
    const auto info = ProcessTable().readWithCommand(child.pid());
    ASSERT_TRUE(info);
    EXPECT_EQ(info->state, 'Z');
    EXPECT_EQ(info->command, "[odd ) \\x0aname]");
}

TEST(Process, anEndedMainThreadIsNotTheEnd) {
    const Headless process;
    // No event reports the end of a main thread, so this loop reads the state of the process again and again.
    const auto deadline = BootClock::now() + std::chrono::milliseconds(kDeadlineMs);
    auto info = ProcessTable().readWithCommand(process.pid());
    while (info && info->state != 'Z' && BootClock::now() < deadline) {
        ::sched_yield();
        info = ProcessTable().readWithCommand(process.pid());
    }
    ASSERT_TRUE(info);
    ASSERT_EQ(info->state, 'Z');
    EXPECT_EQ(info->command.front(), '[') << "a command line of " << info->command;
    EXPECT_FALSE(hasEnded(process.pidfd()));
    EXPECT_EQ(*ProcessTable().pidOf(process.pidfd()), process.pid());
}

TEST(Process, OnlyAPidfdIsAPidfd) {
    const UniqueFd own(*openPidfd(::getpid()));
    EXPECT_TRUE(isPidfd(own.get())) << "a process is not its own child";
    SleepingProcess child;
    EXPECT_TRUE(isPidfd(child.pidfd()));
    child.kill();
    EXPECT_TRUE(isPidfd(child.pidfd())) << "the process may be a zombie";
    child.reap();
    EXPECT_TRUE(isPidfd(child.pidfd())) << "the process is gone";
    // pidfd_send_signal(2) accepts a descriptor of a process's directory in /proc, although such a descriptor is not a pidfd.
    for (const auto& file : {UniqueFd(::open("/proc/self", O_DIRECTORY | O_CLOEXEC)),
                             UniqueFd(::open("/dev/null", O_PATH | O_CLOEXEC)), UniqueFd(::eventfd(0, EFD_CLOEXEC))}) {
        ASSERT_TRUE(file);
        EXPECT_FALSE(isPidfd(file.get()));
    }
    EXPECT_FALSE(isPidfd(-1));
}

TEST(Process, aProcessThatIsNotThereIsGone) {
    SleepingProcess child;
    child.kill();
    child.reap();
    EXPECT_EQ(ProcessTable().read(child.pid()).error().code, ErrorCode::PidGone);
    EXPECT_EQ(ProcessTable().cgroupOf(child.pid()).error().code, ErrorCode::PidGone);
    EXPECT_EQ(openPidfd(child.pid()).error().code, ErrorCode::PidGone);
    EXPECT_EQ(ProcessTable().pidOf(child.pidfd()).error().code, ErrorCode::PidGone);
    EXPECT_TRUE(hasEnded(child.pidfd()));
}

/// Starts a second thread in the process of the test. The thread runs until the object is destroyed.
class OtherThread {
public:
    OtherThread() : thread_([this] { pause(); }) {
        while (id == 0)
            std::this_thread::yield();
    }
    OtherThread(const OtherThread&) = delete;
    OtherThread& operator=(const OtherThread&) = delete;
    ~OtherThread() {
        over_ = true;
        thread_.join();
    }
    std::atomic<pid_t> id = 0;

private:
    void pause() {
        id = static_cast<pid_t>(::syscall(SYS_gettid));
        while (!over_)
            std::this_thread::yield();
    }

    std::atomic<bool> over_ = false;
    std::thread thread_;
};

TEST(Process, aNumberThatIsAThreadsIsNoProcess) {
    const OtherThread thread;
    const auto pidfd = openPidfd(thread.id);
    ASSERT_FALSE(pidfd);
    EXPECT_EQ(pidfd.error().code, ErrorCode::PidGone) << pidfd.error().message;
    const auto info = ProcessTable().read(thread.id);
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_TRUE(info->thread);
    EXPECT_FALSE(ProcessTable().read(::getpid())->thread);
}

TEST(Process, aPidfdOfAThreadIsNone) {
    constexpr unsigned kPidfdThread = O_EXCL;
    const OtherThread thread;
    for (const pid_t id : {thread.id.load(), ::getpid()}) {
        const UniqueFd pidfd(static_cast<int>(::syscall(SYS_pidfd_open, id, kPidfdThread)));
        if (!pidfd)
            GTEST_SKIP() << "this kernel has no pidfds of threads, which Linux 6.9 introduced";
        const auto pid = ProcessTable().pidOf(pidfd.get());
        ASSERT_FALSE(pid);
        EXPECT_EQ(pid.error().code, ErrorCode::InvalidArgument);
    }
}

TEST(Process, withoutADescriptorLeftNobodyIsGone) {
    const SleepingProcess child;
    rlimit limit{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
    const rlimit none{0, limit.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    const auto info = ProcessTable().readWithCommand(child.pid());
    const auto cgroup = ProcessTable().cgroupOf(child.pid());
    const auto pid = ProcessTable().pidOf(child.pidfd());
    const auto pidfd = openPidfd(child.pid());
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
    EXPECT_EQ(info.error().code, ErrorCode::Internal);
    EXPECT_EQ(cgroup.error().code, ErrorCode::Internal);
    EXPECT_EQ(pid.error().code, ErrorCode::Internal);
    EXPECT_EQ(pidfd.error().code, ErrorCode::Internal);
}

TEST(Process, aPidfdTellsItsPid) {
    const SleepingProcess child;
    EXPECT_EQ(*ProcessTable().pidOf(child.pidfd()), child.pid());
}

TEST(Process, onlyAPidfdIsTaken) {
    int ends[2] = {-1, -1};
    ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const UniqueFd in(ends[0]);
    const UniqueFd out(ends[1]);
    const UniqueFd directory(::open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    for (const int fd : {in.get(), directory.get(), -1}) {
        const auto pid = ProcessTable().pidOf(fd);
        ASSERT_FALSE(pid);
        EXPECT_EQ(pid.error().code, ErrorCode::InvalidArgument);
        EXPECT_NE(pid.error().message.find("pidfd_open(2)"), std::string::npos) << pid.error().message;
    }
    EXPECT_FALSE(hasEnded(in.get()));
    EXPECT_FALSE(hasEnded(-1));
}

TEST(Process, theCgroupIsThatOfTheUnifiedHierarchy) {
    const SleepingProcess child;
    const auto path = ProcessTable().cgroupOf(child.pid());
    ASSERT_TRUE(path) << path.error().message;
    EXPECT_EQ(path->front(), '/');
    const auto text = readFile(AT_FDCWD, ("/proc/" + std::to_string(child.pid()) + "/cgroup").c_str());
    EXPECT_NE(text->find("0::" + *path + "\n"), std::string::npos) << *text;
}

class ProcessFiles : public TemporaryDirectory {
protected:
    void show(std::string_view stat, std::string_view status, std::string_view commandLine = "") {
        write("proc/42/stat", stat);
        write("proc/42/status", status);
        write("proc/42/cmdline", commandLine);
    }
    Result<ProcessInfo> read() const { return ProcessTable(top()).readWithCommand(42); }

    static constexpr std::string_view kStat =
        "42 (sh) S 1 42 42 0 -1 4194560 100 0 0 0 7 5 0 0 20 0 1 0 1234 8000000 25 18446744073709551615 1 1 0 0 0 0 0 0 0\n";
    static constexpr std::string_view kStatus = "Name:\tsh\nUmask:\t0022\nUid:\t1000\t1001\t1002\t1003\nGid:\t1\t1\t1\t1\n";
};

TEST_F(ProcessFiles, numbersComeFromTheirFields) {
    show(kStat, kStatus, std::string_view("sh\0-c\0a\nb\0", 10));
    const auto info = read();
    ASSERT_TRUE(info) << info.error().message;
    const auto tick = Microseconds(1s) / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK));
    EXPECT_EQ(info->started, BootTime(1234 * tick));
    EXPECT_EQ(info->cpu, 12 * tick);
    EXPECT_EQ(info->rss, 25U * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
    EXPECT_EQ(info->state, 'S');
    EXPECT_EQ(info->realUid, 1000U);
    EXPECT_EQ(info->effectiveUid, 1001U);
    EXPECT_EQ(info->savedUid, 1002U);
    EXPECT_EQ(info->command, "sh -c a\\x0ab");
}

TEST_F(ProcessFiles, aKernelThreadIsToldByItsFlag) {
    show("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0\n", kStatus);
    EXPECT_TRUE(read()->kernelThread);
    EXPECT_EQ(read()->command, "[kthreadd]");
    show(kStat, kStatus);
    EXPECT_FALSE(read()->kernelThread);
}

TEST_F(ProcessFiles, aKilledProcessIsDyingUnlessItHangs) {
    const auto isDying = [this](char state, unsigned flags, unsigned long pendingSignals) {
        show(statLine({.state = state, .flags = flags, .pendingSignals = pendingSignals}), kStatus);
        return read()->dying;
    };
    constexpr unsigned kExiting = 0x4;
    constexpr unsigned long kSigkill = 1UL << (SIGKILL - 1);
    EXPECT_FALSE(isDying('R', 4194560, 0));
    EXPECT_FALSE(isDying('S', 4194560, 1UL << (SIGTERM - 1)));
    EXPECT_TRUE(isDying('R', 4194560, kSigkill));
    EXPECT_TRUE(isDying('R', 4194560 | kExiting, 0));
    EXPECT_FALSE(isDying('D', 4194560 | kExiting, kSigkill)) << "it may stay for ever";
    EXPECT_FALSE(isDying('Z', 4194560 | kExiting, 0)) << "other threads may run";
    EXPECT_TRUE(isDying('Z', 4194560 | kExiting, kSigkill));
}

TEST_F(ProcessFiles, damagedFilesAreAnErrorNotAGuess) {
    for (const std::string_view stat : {"", "42 (sh", "42 (sh) S 1 2 3", ")"}) {
        show(stat, kStatus);
        ASSERT_FALSE(read()) << stat;
        EXPECT_EQ(read().error().code, ErrorCode::Internal) << stat;
    }
    for (const std::string_view status : {"", "Uid:", "Uid:\t1\t2\n", "Name:\tUid:\t1\t2\t3\n"}) {
        show(kStat, status);
        ASSERT_FALSE(read()) << status;
        EXPECT_EQ(read().error().code, ErrorCode::Internal) << status;
    }
}

TEST_F(ProcessFiles, aDeletedCgroupKeepsItsPath) {
    write("proc/42/cgroup", "12:cpuset:/other\n1:name=systemd:/other\n0::/batch.slice/job-a.scope (deleted)\n");
    EXPECT_EQ(*ProcessTable(top()).cgroupOf(42), "/batch.slice/job-a.scope");
    write("proc/42/cgroup", "12:cpuset:/other\n");
    EXPECT_EQ(ProcessTable(top()).cgroupOf(42).error().code, ErrorCode::Internal);
}

} // namespace pinfold::test
