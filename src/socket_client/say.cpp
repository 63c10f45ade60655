// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket_client/say.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

namespace pinfold {
namespace {

constexpr int kSayMs = 300;
const char* speaker = "pinfold-run";

} // namespace

void say(const std::string& line) {
    const auto text = std::string(speaker) + ": " + line + "\n";
    // A pipe that nobody reads must not delay the job's end. If nobody reads the pipe, pinfold-run must still end soon after a
    // signal.
    pollfd room{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&room, 1, kSayMs) <= 0)
        return;
    // A single write(2) writes the whole line, so no output of the job can get into the middle of the line. say() ignores an
    // error of write(2), because there is no other place for a message.
    (void)!::write(STDERR_FILENO, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
}

void sayAs(const char* program) { speaker = program; }

void writeInTime(int fd, std::string_view text, const Deadline& deadline) {
    while (!text.empty()) {
        pollfd room{fd, POLLOUT, 0};
        if (::poll(&room, 1, deadline.remainingMs()) <= 0)
            return;
        // If poll(2) reports room in a pipe, write(2) of up to PIPE_BUF bytes does not block. The code cannot use O_NONBLOCK,
        // because O_NONBLOCK affects all processes that share the descriptor.
        const auto written = ::write(fd, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (written <= 0)
            return;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

int openStderr() {
    const int flags = ::fcntl(STDERR_FILENO, F_GETFL);
    // A descriptor that this program inherited has no FD_CLOEXEC. If descriptor 2 has FD_CLOEXEC, this program did not inherit
    // the descriptor, but has opened a file that got the number 2.
    const bool inherited = flags >= 0 && (::fcntl(STDERR_FILENO, F_GETFD) & FD_CLOEXEC) == 0;
    return inherited && (flags & O_ACCMODE) != O_RDONLY ? STDERR_FILENO : -1;
}

} // namespace pinfold
