// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/program_output.hpp"

#include "base/pidfd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace pinfold {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMost = 1 << 20;

std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> list;
    for (const auto& word : words)
        list.push_back(const_cast<char*>(
            word.c_str())); // NOLINT(cppcoreguidelines-pro-type-const-cast): posix_spawn(3) does not change the text
    list.push_back(nullptr);
    return list;
}

/// Returns the child's pid, or 0 if the child cannot be started. The child has its own process group, so pinfold can kill the
/// child together with the child's children.
pid_t start(const std::filesystem::path& program, std::vector<std::string> arguments, const std::vector<std::string>& environment,
            int output) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    arguments.insert(arguments.begin(), program.string());
    const auto argv = pointers(arguments);
    const auto envp = pointers(environment);
    pid_t pid = 0;
    const bool started = ::posix_spawn(&pid, program.c_str(), &files, &attributes, argv.data(), envp.data()) == 0;
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    if (!started)
        return 0;
    // In qemu's user mode, posix_spawn(3) can return before the child has its process group. Without setpgid(2), kill(2) could
    // fail to find the process group, and pinfold would wait until the program ends by itself.
    (void)::setpgid(pid, pid);
    return pid;
}

/// Waits until `fd` can be read. Returns false if the deadline passes before `fd` can be read.
bool waitFor(int fd, Clock::time_point deadline) {
    while (true) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
        pollfd readable{fd, POLLIN, 0};
        const int ready = left > 0 ? ::poll(&readable, 1, static_cast<int>(left)) : 0;
        if (ready >= 0 || errno != EINTR)
            return ready > 0;
    }
}

/// Reads from `fd` until the end of the text. Returns false if `deadline` passes before readUntil() has read the whole text.
bool readUntil(int fd, Clock::time_point deadline, std::string& text) {
    std::array<char, 8192> part{};
    while (waitFor(fd, deadline)) {
        const auto length = ::read(fd, part.data(), part.size());
        if (length <= 0)
            return true;
        if (text.size() < kMost)
            text.append(part.data(), static_cast<std::size_t>(length));
    }
    return false;
}

} // namespace

Result<std::string> programOutput(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                                  const std::vector<std::string>& environment, std::chrono::milliseconds time) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return Error{ErrorCode::Internal, "cannot create a pipe for " + program.string()};
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const auto pid = start(program, arguments, environment, writing.get());
    writing.reset();
    if (pid == 0)
        return Error{ErrorCode::Internal, program.string() + " cannot be started"};
    const auto process = pidfdOf(pid);
    const auto deadline = Clock::now() + time;
    std::string text;
    const bool ended = readUntil(reading.get(), deadline, text) && waitFor(process.get(), deadline);
    if (!ended)
        ::kill(-pid, SIGKILL);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!ended)
        return Error{ErrorCode::TimedOut, program.string() + " did not answer within " + std::to_string(time.count()) + " ms"};
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return Error{ErrorCode::Internal, program.string() + " failed"};
    return text;
}

} // namespace pinfold
