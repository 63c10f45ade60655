// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/command_line.hpp"

namespace CLI {
class App;
}

namespace pinfold {

/// Adds `pinfold strays` and its options to the parser.
void addStrays(CLI::App& app, CommandLine& line);

} // namespace pinfold
