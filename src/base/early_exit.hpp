// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace pinfold {

/// Holds the answer to a command line that asks for the help or the version, or that has a usage error. If `status` is 0, the
/// program has to print `text` to standard output. If `status` is not 0, the program has to print `text` to standard error.
struct EarlyExit {
    int status = 0;
    std::string text;
};

} // namespace pinfold
