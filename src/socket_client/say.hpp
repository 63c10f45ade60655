// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "socket_client/deadline.hpp"

#include <string>
#include <string_view>

namespace pinfold {

/// Writes one line to standard error, which is also the job's. The line is left out if there is no room for it within 0.3 s, and
/// cut after 4096 bytes.
void say(const std::string& line);

/// The lines of say() begin with this name from now on, and no longer with pinfold-run's. The text must stay valid.
void sayAs(const char* program);

/// Writes as much of the text as its reader takes in time. The job's end must not hang on a full pipe that nobody reads, or on a
/// stopped terminal.
void writeInTime(int fd, std::string_view text, const Deadline& deadline);

/// Standard error's descriptor. -1: it was closed before this program started, and its number is a file of ours.
int openStderr();

} // namespace pinfold
