// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <filesystem>

namespace pinfold {

struct DaemonOptions {
    std::filesystem::path root = "/"; ///< prefix of every path that is read or written; for tests
    bool help = false;
    bool version = false;
};

/// Error: InvalidArgument, with a message of one line.
Result<DaemonOptions> parseDaemonOptions(int argc, char** argv);

extern const char* const kDaemonUsage;

} // namespace pinfold
