// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace pinfold {

/// One line on standard error, which is the job's too.
void say(const std::string& line);

/// Standard error's descriptor, or -1 where it was closed before us: then the number may be any file of ours by now.
int openStderr();

} // namespace pinfold
