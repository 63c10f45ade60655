// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/deadline.hpp"

#include <string>
#include <string_view>

namespace pinfold {

/// Writes one line to standard error. say() and the job write to the same standard error. Drops the line if standard error does
/// not accept the line within 0.3 s. Cuts the line after 4096 bytes.
void say(const std::string& line);

/// After sayAs(), the lines of say() begin with `program` and not with "pinfold-run". `program` must point to a text that exists
/// until the program ends.
void sayAs(const char* program);

/// Writes the text to `fd`, and stops at the deadline. Without a deadline, a stopped terminal or a full pipe could delay the end
/// of the job for ever.
void writeInTime(int fd, std::string_view text, const Deadline& deadline);

/// Returns the descriptor of standard error, or -1 if standard error was closed before this program started. If standard error
/// was closed at the start, this program has possibly opened a file that got the number 2.
int openStderr();

} // namespace pinfold
