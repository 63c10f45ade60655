// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace pinfold {

/// One line on standard error, which is the job's too.
void say(const std::string& line);

} // namespace pinfold
