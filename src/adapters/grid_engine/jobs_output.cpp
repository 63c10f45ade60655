// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/jobs_output.hpp"

#include "base/deadline.hpp"
#include "base/pidfd.hpp"
#include "socket_client/say.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace pinfold {
namespace {

constexpr Microseconds kMost = 5s;

[[noreturn]] void writeAsOwner(const JobOwner& owner, const GridEngineOutput& output, std::string_view text) {
    if (::initgroups(owner.name.c_str(), owner.gid) != 0 || ::setgid(owner.gid) != 0 || ::setuid(owner.uid) != 0)
        ::_exit(1);
    auto path = output.path;
    struct stat status {};
    if (::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
        path += "/" + output.name;
    const UniqueFd file(::open(path.c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (file)
        writeInTime(file.get(), text, Deadline(kMost));
    ::_exit(0);
}

} // namespace

void addToJobsOutput(const JobOwner& owner, const GridEngineOutput& output, std::string_view text) {
    if (text.empty() || output.path.empty() || owner.uid == 0)
        return;
    const pid_t writer = ::fork();
    if (writer == 0)
        writeAsOwner(owner, output, text);
    const auto pidfd = writer > 0 ? pidfdOf(writer) : UniqueFd();
    if (!pidfd)
        return;
    pollfd over{pidfd.get(), POLLIN, 0};
    if (::poll(&over, 1, Deadline(kMost).remainingMs()) <= 0)
        ::kill(writer, SIGKILL);
    // If the writer process hangs in the kernel, the caller does not wait for the end of the writer. The kernel ends a hanging
    // writer process as soon as the process no longer hangs.
    ::waitpid(writer, nullptr, WNOHANG);
}

} // namespace pinfold
