// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <filesystem>

namespace pinfold {

struct ArchiveServiceOptions {
    /// The directory that is put before all paths of the configuration's files; only tests change it.
    std::filesystem::path root = "/";
    Microseconds idle = 5min; ///< the service exits after this time without a connection
    bool help = false;
    bool version = false;
};

/// Reads the command line. The message of the error InvalidArgument is a single line.
Result<ArchiveServiceOptions> parseArchiveServiceOptions(int argc, char** argv);

extern const char* const kArchiveServiceUsage;

} // namespace pinfold
