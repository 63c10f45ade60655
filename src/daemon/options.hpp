// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <filesystem>

namespace pinfold {

struct DaemonOptions {
    std::filesystem::path root = "/"; ///< the directory before every path that pinfoldd reads or writes; only tests change it
    bool help = false;
    bool version = false;
};

/// Reads the command line. The message of the error InvalidArgument is a single line.
Result<DaemonOptions> parseDaemonOptions(int argc, char** argv);

extern const char* const kDaemonUsage;

} // namespace pinfold
