// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace pinfold {

/// Replaces this process by the program, found along PATH as execvp(3) does, with `command` as its arguments. Returns errno.
int execCommand(const char* program, char** command);

/// "COMMAND: No such file or directory"
std::string describeExecFailure(const char* command, int error);

/// 127 for a command that does not exist, 126 for one that cannot be executed.
int execFailureStatus(int error);

} // namespace pinfold
