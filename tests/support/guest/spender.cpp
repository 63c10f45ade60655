// SPDX-License-Identifier: LGPL-2.1-or-later
// spender is a batch job that uses known amounts of resources. `spender [NAME=VALUE…]` understands the following words.
// * With `wait`, spender first waits for a line on standard input.
// * With `since=CPU_STAT`, spender prints "begun OWN CHARGED" before the work. OWN is the CPU time of spender in microseconds.
//   CHARGED is the CPU time of the cgroup with the file CPU_STAT.
// * With `processes=N`, spender starts N children, and each child does the complete work. Without `processes`, spender
//   itself does the work.
// * With `threads=N`, N threads of each process use CPU time. Without `threads`, the main thread uses CPU time.
// * With `user=MS`, each thread uses CPU time in user space for MS milliseconds.
// * With `system=MS`, each thread uses CPU time in the kernel for MS milliseconds.
// * With `memory=MIB`, each process touches and keeps MIB mebibytes of private memory.
// * With `write=FILE:BYTES`, each process writes whole blocks of 64 KiB without the page cache, and then flushes the file.
// * With `read=FILE:BYTES`, each process reads whole blocks of 64 KiB without the page cache.
// * With `then=exit`, spender prints "done" after the work, and exits at once.
// * With `then=stay`, spender prints "done" after the work. spender and its children sleep until a signal kills them.
// * With `then=leave`, spender prints "done" after the work, and exits, but its children sleep.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kBlock = 64 << 10;
// In a virtual machine without hardware support, each system call also takes some microseconds outside of the guest's kernel, and
// the guest counts these microseconds as time in user space. The kernel needs much longer than that to clear a mebibyte.
constexpr std::size_t kZeros = 1 << 20;

std::map<std::string, std::string> words;

[[noreturn]] void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

long number(const char* name) {
    const auto word = words.find(name);
    return word == words.end() ? 0 : std::atol(word->second.c_str());
}

std::uint64_t used(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(time.tv_nsec) / 1000;
}

void tellBeginning(const std::string& file) {
    const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        fail(file.c_str());
    std::array<char, 4096> text{};
    // When a program reads the clock of its CPU time, the kernel charges the used time to the cgroup. The program must read this
    // clock first, and then CPU_STAT.
    const auto own = used(CLOCK_PROCESS_CPUTIME_ID);
    unsigned long long charged = 0;
    if (::read(fd, text.data(), text.size() - 1) <= 0 || std::sscanf(text.data(), "usage_usec %llu", &charged) != 1)
        fail(file.c_str());
    ::close(fd);
    std::printf("begun %llu %llu\n", static_cast<unsigned long long>(own), charged);
    std::fflush(stdout);
}

void burnUser(long milliseconds) {
    const auto end = used(CLOCK_THREAD_CPUTIME_ID) + static_cast<std::uint64_t>(milliseconds) * 1000;
    while (used(CLOCK_THREAD_CPUTIME_ID) < end)
        for (volatile int i = 0; i < 20'000;)
            i = i + 1;
}

void burnSystem(long milliseconds) {
    std::vector<char> block(kZeros);
    const int zero = ::open("/dev/zero", O_RDONLY | O_CLOEXEC);
    const auto end = used(CLOCK_THREAD_CPUTIME_ID) + static_cast<std::uint64_t>(milliseconds) * 1000;
    while (used(CLOCK_THREAD_CPUTIME_ID) < end)
        if (::read(zero, block.data(), block.size()) <= 0)
            fail("/dev/zero");
    ::close(zero);
}

void burn() {
    burnUser(number("user"));
    if (const long milliseconds = number("system")) // a job that only holds memory must not touch further memory
        burnSystem(milliseconds);
}

void burnInThreads(long count) {
    std::vector<std::thread> threads;
    for (long i = 0; i < count; ++i)
        threads.emplace_back(burn);
    for (auto& thread : threads)
        thread.join();
}

void hold(long mebibytes) {
    const auto size = static_cast<std::size_t>(mebibytes) << 20;
    void* memory = size == 0 ? nullptr : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    if (memory)
        std::memset(memory, 1, size);
}

/// Reads or writes. `move` is pread or pwrite, and `word` is FILE:BYTES.
template <class F> void transfer(const std::string& word, int flags, F&& move) {
    const auto colon = word.rfind(':');
    const auto bytes = std::strtoul(word.c_str() + colon + 1, nullptr, 10);
    const int fd = ::open(word.substr(0, colon).c_str(), flags | O_DIRECT | O_CLOEXEC);
    void* block = std::aligned_alloc(4096, kBlock);
    if (fd < 0 || !block)
        fail(word.c_str());
    std::memset(block, 1, kBlock);
    for (std::size_t done = 0; done < bytes; done += kBlock)
        if (move(fd, block, kBlock, static_cast<off_t>(done)) != static_cast<ssize_t>(kBlock))
            fail(word.c_str());
    if (flags != O_RDONLY && ::fsync(fd) != 0)
        fail("fsync");
    std::free(block);
    ::close(fd);
}

void work() {
    if (const long threads = number("threads"))
        burnInThreads(threads);
    else
        burn();
    hold(number("memory"));
    if (words.contains("write"))
        transfer(words["write"], O_WRONLY, ::pwrite);
    if (words.contains("read"))
        transfer(words["read"], O_RDONLY, ::pread);
}

[[noreturn]] void sleepUntilKilled() {
    for (;;)
        ::pause();
}

/// Starts `count` children, which call work(). Returns when work() has returned in all children.
void workInChildren(long count, bool stay) {
    std::array<int, 2> done{};
    if (::pipe2(done.data(), O_CLOEXEC) != 0)
        fail("pipe");
    for (long i = 0; i < count; ++i)
        if (::fork() == 0) {
            work();
            if (::write(done[1], "d", 1) != 1)
                ::_exit(1);
            if (stay)
                sleepUntilKilled();
            ::_exit(0);
        }
    ::close(done[1]);
    char byte = 0;
    for (long i = 0; i < count; ++i)
        if (::read(done[0], &byte, 1) != 1)
            fail("a child");
}

} // namespace

int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        words[word.substr(0, word.find('='))] = word.substr(std::min(word.find('='), word.size() - 1) + 1);
    }
    if (words.contains("wait"))
        while (std::getchar() != '\n')
            ;
    if (words.contains("since"))
        tellBeginning(words["since"]);
    const auto then = words.contains("then") ? words["then"] : "exit";
    if (const long processes = number("processes"))
        workInChildren(processes, then != "exit");
    else
        work();
    std::puts("done");
    std::fflush(stdout);
    if (then == "stay")
        sleepUntilKilled();
    if (then == "exit")
        while (::wait(nullptr) > 0)
            ;
}
