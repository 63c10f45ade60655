// SPDX-License-Identifier: LGPL-2.1-or-later
// recycler offers pinfoldd a process, and a moment later gives the id of this process to a new process.
// `recycler serve SOCKET` acts like sshd: the server forks a child for each connection. The child prints its process id and lives
// until the connection ends. With `serve SOCKET forks`, a child forks as soon as somebody has moved the child to another cgroup.
// After this fork, the server's child also prints the process id of the forked process. Without `forks`, the server's child
// prints 0 in place of this id.
// `recycler attack SOCKET KEY TRIES` offers pinfoldd a process for the job KEY. Before the request, recycler starts processes
// that end at once, until the kernel has given away an id just below the id of the offered process. While pinfoldd handles the
// request, recycler ends the offered process, and makes the server fork. For each try, recycler prints whether the server's child
// got the id of the offered process. recycler also prints the child's cgroup, pinfoldd's answer, and the cgroup of the process
// that the child has forked.
// `recycler give SOCKET KEY` fills the job KEY with processes, and prints "ready". After "ready", the test lets pinfoldd signal
// the processes of the job one after the other. As soon as the first process has ended, recycler ends some processes to which
// pinfoldd has not sent a signal yet. recycler makes the server fork, so that the server's new children get the process ids of
// the ended processes. At the end, recycler prints two numbers. The first number says how many of the server's children got an id
// of an ended process. The second number says how many of the server's children ended by a signal.
#include "tests/support/cpp/fork.hpp"

#include <linux/sockios.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* kPinfoldd = "/run/pinfold/wrapper.sock";
constexpr long kMostDelay = 32'000; // microseconds that pinfoldd and systemd need for a request on a busy machine
constexpr long kSteps = 23;         // the delay grows slowly from one try to the next
constexpr int kNear = 8;            // the first loop ends when at most kNear process ids are left up to `wanted`
constexpr int kMostForks = 10'000;
constexpr std::chrono::milliseconds kMoveMayTake{60}; // how long the move of a process can take if slowmove.so delays the move
constexpr int kSpare = 100;                           // how many process ids other processes can take before the end of the job
constexpr int kHoard = 1000;                          // pinfoldd needs a few milliseconds to signal 1000 processes
constexpr std::size_t kStack = 8192;
constexpr int kGivenAway = 40; // recycler frees this number of the job's process ids for the server's children

int fail(const char* what) {
    std::perror(what);
    return 1;
}

sockaddr_un addressOf(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

int connectTo(const std::string& name, int type) {
    const int fd = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    const auto address = addressOf(name);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        std::exit(fail(name.c_str()));
    return fd;
}

std::string cgroupOf(pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/cgroup");
    std::string line;
    while (std::getline(file, line))
        if (line.starts_with("0::"))
            return line.substr(3);
    return "";
}

/// Forks as soon as somebody has moved this process out of the cgroup `home`. Returns -1 if nobody moves the calling process
/// within kMoveMayTake.
pid_t forkWhenMoved(const std::string& home) {
    const auto begun = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begun < kMoveMayTake)
        if (cgroupOf(::getpid()) != home)
            return ::fork();
    return -1;
}

void serveOne(int client, bool forks) {
    const auto number = ::getpid();
    const auto child = forks ? forkWhenMoved(cgroupOf(::getppid())) : -1;
    if (child != 0) {
        const auto said = std::to_string(number) + " " + std::to_string(child > 0 ? child : 0);
        (void)!::write(client, said.data(), said.size());
    }
    char end = 0;
    if (::read(client, &end, 1) == 1)
        (void)!::write(client, &end, 1); // this byte tells the client that no signal has ended the child
    ::_exit(0);
}

int serve(const std::string& name, bool forks) {
    const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const auto address = addressOf(name);
    if (::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || ::listen(listener, 64) != 0)
        return fail(name.c_str());
    std::signal(SIGCHLD, SIG_IGN); // NOLINT(cppcoreguidelines-pro-type-cstyle-cast)
    std::puts("ready");
    std::fflush(stdout);
    for (;;) {
        const int client = ::accept(listener, nullptr, nullptr);
        if (client >= 0 && ::fork() == 0)
            serveOne(client, forks);
        ::close(client);
    }
}

pid_t pausingProcess() {
    const pid_t pid = pinfold::test::forkDependent();
    if (pid == 0) {
        ::pause();
        ::_exit(0);
    }
    return pid;
}

pid_t passingProcess() {
    const pid_t pid = ::vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork): vfork is ten times as fast as fork
    if (pid == 0)
        ::_exit(0);
    ::waitpid(pid, nullptr, 0);
    return pid;
}

/// Starts processes that end at once, until one of these processes has got the id `wanted` - 1. Returns false if other programs
/// start too many processes at the same time.
bool bringCounterBefore(pid_t wanted) {
    pid_t last = 0;
    for (int count = 0; last >= wanted || last < wanted - kNear; ++count) {
        // After the highest process id, the kernel continues with the process id 300, so the loop reaches the ids below `wanted`.
        if (count == kMostForks)
            return false;
        last = passingProcess();
    }
    while (last < wanted - 1) {
        const pid_t next = passingProcess();
        if (next <= last) // another process has the id `wanted` - 1, and the kernel has continued with the process id 300
            return false;
        last = next;
    }
    return last == wanted - 1;
}

void send(int socket, const std::string& text, int descriptor) {
    iovec part{const_cast<char*>(text.data()), text.size()};
    std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    auto* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    if (::sendmsg(socket, &message, 0) < 0)
        std::exit(fail("sendmsg"));
}

void waitUntilRead(int socket) {
    int left = 1;
    while (left > 0 && ::ioctl(socket, SIOCOUTQ, &left) == 0) {
    }
}

void spin(long microseconds) { // loops without sleeping, because a sleep is not exact enough
    timespec begun{};
    ::clock_gettime(CLOCK_MONOTONIC, &begun);
    timespec now = begun;
    while ((now.tv_sec - begun.tv_sec) * 1'000'000 + (now.tv_nsec - begun.tv_nsec) / 1000 < microseconds)
        ::clock_gettime(CLOCK_MONOTONIC, &now);
}

std::string receive(int socket) {
    std::array<char, 4096> text{};
    const auto length = ::recv(socket, text.data(), text.size(), 0);
    return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : std::string();
}

/// Does one try. `others` is the number of processes that pinfoldd itself starts for a request.
void tryOnce(const std::string& server, const std::string& request, long delay, int others) {
    const pid_t offered = pausingProcess();
    const int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, offered, 0));
    const bool ready = bringCounterBefore(offered - others);
    const int wrapper = connectTo(kPinfoldd, SOCK_SEQPACKET);
    const int daemon = ready ? ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    send(wrapper, request, pidfd);
    waitUntilRead(wrapper);
    spin(delay);
    ::kill(offered, SIGKILL);
    ::waitpid(offered, nullptr, 0); // after this call, another process can get the id `offered`
    if (ready) {
        const auto address = addressOf(server);
        if (::connect(daemon, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            std::exit(fail(server.c_str()));
        int child = 0;
        int grandchild = 0;
        (void)std::sscanf(receive(daemon).c_str(), "%d %d", &child, &grandchild);
        const auto answer = receive(wrapper);
        std::printf("%d\t%s\t%s\t%s\n", child == offered ? 1 : 0, cgroupOf(child).c_str(), answer.c_str(),
                    grandchild > 0 ? cgroupOf(grandchild).c_str() : "");
        std::fflush(stdout);
    }
    for (const int fd : {pidfd, wrapper, daemon})
        ::close(fd);
}

std::string adoptionBy(const std::string& key) {
    return R"({"version":1,"call":"adopt","key":")" + key + R"(","owner":)" + std::to_string(::getuid()) + "}";
}

int attack(const std::string& server, const std::string& key, long tries) {
    const auto request = adoptionBy(key);
    for (long i = 0; i < tries; ++i)
        tryOnce(server, request, kMostDelay * (i % kSteps) * (i % kSteps) / (kSteps * kSteps), static_cast<int>(i % 2));
    return 0;
}

/// Contains the process ids of the processes with which recycler fills a job. The process `first` has created the processes
/// `others`.
struct Hoard {
    pid_t first;
    std::array<pid_t, kHoard> others;
};

int sleepForSignal(void*) {
    ::pause();
    return 0;
}

/// The process `first` of a Hoard calls this function. When the process `first` is in the job, the process `first` creates the
/// processes `others`. With CLONE_PARENT, the new processes have the same parent as the process `first`. With CLONE_VM, they use
/// the same memory, so that they start and end fast.
[[noreturn]] void startHoard(int fromParent, int toParent) {
    char go = 0;
    (void)!::read(fromParent, &go, 1);
    decltype(Hoard::others) pids{};
    std::vector<char> stacks(pids.size() * kStack);
    char* stack = stacks.data();
    for (auto& pid : pids) {
        stack += kStack; // clone() needs the highest address of the new process's stack
        pid = ::clone(sleepForSignal, stack, CLONE_VM | CLONE_PARENT | SIGCHLD, nullptr);
        if (pid < 0)
            ::_exit(1);
    }
    (void)!::write(toParent, pids.data(), sizeof pids);
    ::pause();
    ::_exit(0);
}

Hoard hoardIn(const std::string& key) {
    std::array<int, 2> down{};
    std::array<int, 2> up{};
    if (::pipe(down.data()) != 0 || ::pipe(up.data()) != 0)
        std::exit(fail("pipe"));
    Hoard hoard{.first = ::fork(), .others = {}};
    if (hoard.first == 0)
        startHoard(down[0], up[1]);
    ::close(up[1]);
    const int wrapper = connectTo(kPinfoldd, SOCK_SEQPACKET);
    send(wrapper, adoptionBy(key), static_cast<int>(::syscall(SYS_pidfd_open, hoard.first, 0)));
    (void)receive(wrapper);
    if (::write(down[1], "g", 1) != 1 || ::read(up[0], hoard.others.data(), sizeof hoard.others) != sizeof hoard.others)
        std::exit(fail("the hoard's first process"));
    return hoard;
}

/// Starts processes that take the free process ids between those of the hoard. These ids were in use when the hoard was made.
void fillGaps(const Hoard& hoard) {
    (void)bringCounterBefore(hoard.first);
    for (pid_t pid = hoard.first; pid >= hoard.first && pid < hoard.others.back();)
        pid = pausingProcess();
}

int giveAway(const std::string& server, const std::string& key) {
    const auto hoard = hoardIn(key);
    fillGaps(hoard);
    const std::vector<pid_t> given(hoard.others.end() - 1 - kGivenAway, hoard.others.end() - 1);
    (void)bringCounterBefore(hoard.first - kSpare);
    std::puts("ready");
    std::fflush(stdout);

    siginfo_t info{};
    ::waitid(P_PID, static_cast<id_t>(hoard.first), &info, WEXITED | WNOWAIT); // `first` stays a zombie
    for (const auto pid : given)
        ::kill(pid, SIGKILL);
    for (const auto pid : given)
        ::waitpid(pid, nullptr, 0); // after this call, another process can get the id `pid`
    // Of the job's process ids, only the ids in `given` are free. If other programs start processes at the same time, each of
    // these processes takes one of the ids in `given`, and leaves the others to the server's children.
    for (pid_t last = 0; last < hoard.first - 1;)
        last = passingProcess();
    std::vector<int> roots(given.size());
    for (auto& root : roots)
        root = connectTo(server, SOCK_STREAM);
    ::waitpid(hoard.others.back(), nullptr, 0); // `others.back()` is the process that pinfoldd signals last
    int taken = 0;
    int hit = 0;
    for (const int root : roots) {
        const auto number = std::atoi(receive(root).c_str());
        taken += std::count(given.begin(), given.end(), number) > 0 ? 1 : 0;
        hit += ::send(root, "?", 1, MSG_NOSIGNAL) == 1 && receive(root) == "?" ? 0 : 1;
    }
    std::printf("%d %d\n", taken, hit);
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::string_view verb = argc > 2 ? argv[1] : "";
    if (verb == "serve")
        return serve(argv[2], argc == 4);
    if (verb == "attack" && argc == 5)
        return attack(argv[2], argv[3], std::atol(argv[4]));
    if (verb == "give" && argc == 4)
        return giveAway(argv[2], argv[3]);
    std::fputs("usage: recycler serve SOCKET [forks] | attack SOCKET KEY TRIES | give SOCKET KEY\n", stderr);
    return 2;
}
