// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/standard_streams.hpp"

#include "socket_client/say.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace pinfold {
namespace {

/// Calls `act` in a child process, and returns the exit status of the child.
int inAnotherProcess(int (*act)()) {
    const auto pid = ::fork();
    if (pid == 0)
        ::_exit(act());
    int status = -1;
    EXPECT_EQ(::waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(StandardStreams, noFileOfOursGetsTheNumberOfAClosedOne) {
    EXPECT_EQ(inAnotherProcess([] {
                  for (int fd = 0; fd <= 2; ++fd)
                      ::close(fd);
                  occupyStandardStreams();
                  return ::open("/dev/zero", O_RDONLY | O_CLOEXEC) > 2 ? 0 : 1;
              }),
              0);
}

TEST(StandardStreams, theCommandFindsThemAsTheyWere) {
    EXPECT_EQ(inAnotherProcess([] {
                  ::close(1);
                  occupyStandardStreams();
                  ::execl("/bin/sh", "sh", "-c", "[ -e /proc/self/fd/0 ] && [ ! -e /proc/$$/fd/1 ] && [ -e /proc/$$/fd/2 ]",
                          nullptr);
                  return 99;
              }),
              0);
}

TEST(StandardStreams, whatStandsInForStandardErrorIsNotTheJobs) {
    EXPECT_EQ(inAnotherProcess([] {
                  ::close(2);
                  occupyStandardStreams();
                  return openStderr() == -1 ? 0 : 1;
              }),
              0);
}

} // namespace
} // namespace pinfold
