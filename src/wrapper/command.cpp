// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wrapper/command.hpp"

#include "base/error_code.hpp"
#include "base/escape.hpp"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace pinfold {

int execCommand(const char* program, char** command) {
    ::execvp(program, command);
    return errno;
}

void nameAfter(const char* program) {
    const char* slash = std::strrchr(program, '/');
    (void)::prctl(PR_SET_NAME, slash ? slash + 1 : program);
}

std::string describeExecFailure(const char* command, int error) { return printable(command, 300) + ": " + std::strerror(error); }

int execFailureStatus(int error) { return error == ENOENT || error == ENOTDIR ? kRunNotFound : kRunNotExecutable; }

} // namespace pinfold
