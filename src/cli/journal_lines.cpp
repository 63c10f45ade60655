// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/journal_lines.hpp"

#include "base/unique_fd.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

namespace pinfold {

std::string journalLines(const std::string& unit) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0)
        return {};
    const UniqueFd readEnd(ends[0]);
    UniqueFd writeEnd(ends[1]);
    const pid_t pid = ::fork();
    if (pid == 0) {
        ::dup2(writeEnd.get(), STDOUT_FILENO);
        // journalctl's messages (such as "you may not see this") are thrown away, because they tell the caller nothing new.
        ::dup2(::open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO);
        ::execlp("journalctl", "journalctl", "--no-pager", "--quiet", "-n", "10", "-o", "short-iso", "-u", unit.c_str(), nullptr);
        ::_exit(1);
    }
    writeEnd.reset();
    std::string text;
    std::array<char, 4096> buffer{};
    ssize_t count = 0;
    while (pid > 0 && (count = ::read(readEnd.get(), buffer.data(), buffer.size())) > 0)
        text.append(buffer.data(), static_cast<std::size_t>(count));
    if (pid > 0)
        ::waitpid(pid, nullptr, 0);
    return text;
}

} // namespace pinfold
