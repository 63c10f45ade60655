// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace pinfold {

/// Holds the text and the exit status for a command line with which a program only prints a text: a call for help or for the
/// version, or a usage error. If the exit status is 0, the text belongs to standard output, and otherwise to standard error.
struct EarlyExit {
    int status = 0;
    std::string text;
};

} // namespace pinfold
