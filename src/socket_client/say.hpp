// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "socket_client/deadline.hpp"

#include <string>
#include <string_view>

namespace pinfold {

/// Writes one line to standard error, which is also the job's standard error. say() leaves the line out if there is no room for
/// it within 0.3 s, and cuts it after 4096 bytes.
void say(const std::string& line);

/// From now on the lines of say() begin with `program` and not with "pinfold-run". The text of `program` must stay valid.
void sayAs(const char* program);

/// Writes as much of the text as the reader of `fd` takes until the deadline. The job's end must not hang on a full pipe that
/// nobody reads, or on a stopped terminal.
void writeInTime(int fd, std::string_view text, const Deadline& deadline);

/// Returns the descriptor of standard error, or -1 if standard error was closed before this program started: then another file
/// has its number.
int openStderr();

} // namespace pinfold
