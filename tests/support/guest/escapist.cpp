// SPDX-License-Identifier: LGPL-2.1-or-later
// Leaves a process behind, as a badly written batch job does. `escapist WAY [NAME]` leaves a process behind in the way WAY, and
// exits with status 3. If WAY is "threads", the main thread of the process ends. The other threads of the process run until they
// can read a byte from standard input. escapist prints "ready PID" when the process PID is ready for the test.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

namespace {

constexpr int kStatus = 3;
constexpr uid_t kOtherUid = 65534;

int readyPipe[2];

[[noreturn]] void lurk() {
    const pid_t self = ::getpid();
    if (::write(readyPipe[1], &self, sizeof self) != sizeof self)
        ::_exit(1);
    for (;;)
        ::pause();
}

[[noreturn]] void leave() {
    pid_t lurker = 0;
    ::close(readyPipe[1]);
    if (::read(readyPipe[0], &lurker, sizeof lurker) != sizeof lurker)
        ::_exit(1);
    std::printf("ready %d\n", lurker);
    std::fflush(stdout);
    std::exit(kStatus);
}

/// Runs `body` in a child, leaves the child behind and exits.
template <class F> [[noreturn]] void leaveBehind(F&& body) {
    if (::fork() == 0) {
        body();
        lurk();
    }
    leave();
}

/// Waits until the process has ended and is in no cgroup any more.
void waitForEndOf(pid_t pid) {
    pollfd ended{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)), POLLIN, 0};
    if (ended.fd < 0)
        return;
    (void)::poll(&ended, 1, -1);
    ::close(ended.fd);
}

/// Continues in a child after the parent has ended. If the child did not wait for the parent's end, both processes would be
/// leftovers for a moment.
void forkOff() {
    const pid_t parent = ::getpid();
    if (::fork() != 0)
        ::_exit(0);
    waitForEndOf(parent);
}

void dropDescriptors() {
    const int null = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; ++fd)
        ::dup2(null, fd);
}

void setSid() {
    ::setsid();
    dropDescriptors();
}

void doubleFork() {
    ::setsid();
    forkOff();
    dropDescriptors();
}

void daemonFunction() {
    const pid_t parent = ::getpid();
    if (::daemon(0, 0) != 0)
        ::_exit(1);
    waitForEndOf(parent);
}

void reparented() {
    // Forks twice, and continues in the grandchild. The first process and the child have ended, so no process of escapist waits
    // for the grandchild.
    forkOff();
    forkOff();
    dropDescriptors();
}

void ignoresTerm() {
    ::signal(SIGTERM, SIG_IGN);
    ::signal(SIGHUP, SIG_IGN);
    setSid();
}

void stopped() {
    setSid();
    const pid_t self = ::getpid();
    if (::write(readyPipe[1], &self, sizeof self) != sizeof self)
        ::_exit(1);
    ::raise(SIGSTOP);
}

void otherUser() {
    setSid();
    if (::setgid(kOtherUid) != 0 || ::setuid(kOtherUid) != 0)
        ::_exit(1);
}

/// Runs four daemons, which change their process ids all the time while `goesOn` returns true. To change its process id, a daemon
/// forks and exits, and the child continues as the daemon.
template <class F> [[noreturn]] void hop(F&& goesOn) {
    setSid();
    ::signal(SIGTERM, SIG_IGN);
    for (int i = 0; i < 3; ++i)
        if (::fork() == 0)
            break;
    const pid_t self = ::getpid();
    if (::write(readyPipe[1], &self, sizeof self) != sizeof self)
        ::_exit(1);
    while (goesOn())
        if (::fork() > 0)
            break;
    ::_exit(0);
}

/// The program changes its process id again and again for `seconds`. If `seconds` is 0, the program never stops.
[[noreturn]] void hopFor(long seconds) {
    hop([seconds, end = ::time(nullptr) + seconds] { return seconds == 0 || ::time(nullptr) < end; });
}

/// Changes the program's process id again and again until the file exists. The program makes only a few hundred processes per
/// second, so that PID 1 can reap all ended processes in time. A faster program would leave no free process id on the host.
[[noreturn]] void hopUntil(const char* file) {
    hop([file] {
        ::usleep(5000);
        return ::access(file, F_OK) != 0;
    });
}

void* waitForByte(void*) {
    char byte = 0;
    (void)!::read(STDIN_FILENO, &byte, 1);
    std::exit(kStatus);
}

/// Leaves `count` daemons behind. The leader waits for a byte before it exits.
[[noreturn]] void many(long count) {
    for (long i = 0; i < count; ++i)
        if (::fork() == 0) {
            ::setsid();
            dropDescriptors();
            lurk();
        }
    for (long i = 0; i < count; ++i) {
        pid_t lurker = 0;
        if (::read(readyPipe[0], &lurker, sizeof lurker) != sizeof lurker)
            ::_exit(1);
    }
    std::printf("ready %d\n", ::getpid());
    std::fflush(stdout);
    waitForByte(nullptr);
    std::exit(kStatus);
}

[[noreturn]] void threads() {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, waitForByte, nullptr) != 0)
        std::exit(1);
    std::printf("ready %d\n", ::getpid());
    std::fflush(stdout);
    pthread_exit(nullptr);
}

[[noreturn]] void named(const char* name, char** argv) {
    // The program executes itself under the name NAME. NAME becomes the command line of the process, and the name of the
    // process's thread.
    if (::fork() == 0) {
        setSid();
        const std::string fd = std::to_string(readyPipe[1]);
        ::fcntl(readyPipe[1], F_SETFD, 0);
        ::setenv("ESCAPIST_READY", fd.c_str(), 1);
        std::vector<char> odd(name, name + std::strlen(name) + 1);
        char* const args[] = {odd.data(), nullptr};
        ::execv(argv[0], args);
        ::_exit(1);
    }
    leave();
}

} // namespace

int main(int argc, char** argv) {
    if (const char* fd = std::getenv("ESCAPIST_READY")) {
        readyPipe[1] = std::atoi(fd);
        ::prctl(PR_SET_NAME, argv[0]);
        lurk();
    }
    if (argc < 2 || ::pipe2(readyPipe, O_CLOEXEC) != 0)
        return 1;
    const std::string way = argv[1];
    if (way == "set-sid")
        leaveBehind(setSid);
    if (way == "double-fork")
        leaveBehind(doubleFork);
    if (way == "daemon")
        leaveBehind(daemonFunction);
    if (way == "re-parented")
        leaveBehind(reparented);
    if (way == "ignores-term")
        leaveBehind(ignoresTerm);
    if (way == "stopped")
        leaveBehind(stopped);
    if (way == "other-user")
        leaveBehind(otherUser);
    if (way == "storm")
        leaveBehind([argc, argv] { hopFor(argc == 3 ? std::atol(argv[2]) : 0); });
    if (way == "hop-until" && argc == 3)
        leaveBehind([argv] { hopUntil(argv[2]); });
    if (way == "many" && argc == 3)
        many(std::atol(argv[2]));
    if (way == "threads")
        threads();
    if (way == "named" && argc == 3)
        named(argv[2], argv);
    std::fprintf(stderr, "escapist: unknown way '%s'\n", argv[1]);
    return 1;
}
