// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/torque/command.hpp"

#include "base/error_code.hpp"
#include "base/unique_fd.hpp"
#include "build_config.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace pinfold::torque {
namespace {

constexpr std::size_t kMaxPrinted = 64 << 10;

std::string readAll(int fd) {
    std::string text;
    std::array<char, 4096> part{};
    for (;;) {
        const auto length = ::read(fd, part.data(), part.size());
        if (length < 0 && errno == EINTR)
            continue;
        if (length <= 0)
            return text;
        text.append(part.data(), std::min(static_cast<std::size_t>(length), kMaxPrinted - text.size()));
    }
}

int statusOf(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return kRunNotFound;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

Finished runAlone(const std::string& program, const Words& arguments, Printed keep) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return {.status = kRunNotFound, .printed = ""};
    const UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const int kept = keep == Printed::Output ? STDOUT_FILENO : STDERR_FILENO;

    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    for (const int fd : {STDOUT_FILENO, STDERR_FILENO})
        if (fd == kept)
            ::posix_spawn_file_actions_adddup2(&files, writing.get(), fd);
        else
            ::posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_WRONLY, 0);

    std::vector<char*> argv{const_cast<char*>(program.c_str())};
    for (const auto& argument : arguments)
        argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    std::array<char*, 1> noEnvironment{nullptr};
    pid_t pid = -1;
    const bool started = ::posix_spawn(&pid, program.c_str(), &files, nullptr, argv.data(), noEnvironment.data()) == 0;
    ::posix_spawn_file_actions_destroy(&files);
    writing.reset();
    if (!started)
        return {.status = kRunNotFound, .printed = program + " cannot be executed\n"};
    auto printed = readAll(reading.get());
    return {.status = statusOf(pid), .printed = std::move(printed)};
}

Finished runPinfold(const Words& arguments) { return runAlone(PINFOLD_COMMAND, arguments, Printed::Errors); }

Words wordsOf(char** argv) {
    Words words;
    for (; *argv; ++argv)
        words.emplace_back(*argv);
    return words;
}

Environment environmentOf(char** environment) {
    Environment values;
    for (; *environment; ++environment) {
        const std::string_view entry(*environment);
        if (const auto equals = entry.find('='); equals != std::string_view::npos)
            values.emplace(entry.substr(0, equals), entry.substr(equals + 1));
    }
    return values;
}

} // namespace pinfold::torque
