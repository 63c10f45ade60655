// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace pinfold {

/// Replaces this process by the program, with `command` as the program's arguments. Searches the directories in PATH for the
/// program, like execvp(3). Returns errno if the program cannot be executed.
int execCommand(const char* program, char** command);

/// Gives this process the name of the program that it will execute (`comm` in proc(5)).
void nameAfter(const char* program);

/// Returns a text with the command and the error message, separated by a colon.
std::string describeExecFailure(const char* command, int error);

/// Returns 127 if the command does not exist, and 126 if the command exists but cannot be executed.
int execFailureStatus(int error);

} // namespace pinfold
