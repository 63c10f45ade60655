// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

enum class LeftoverFilesPolicy { Report, Remove };

/// Holds the settings in [strays] that tell the timer of `pinfold strays` what to do with leftover files. The settings name the
/// directories in which the timer looks for leftover files, and say whether the timer removes the files.
struct LeftoverFilesConfig {
    /// files = "report" | "remove": what the timer does with leftover files.
    LeftoverFilesPolicy policy = LeftoverFilesPolicy::Report;
    /// file_directories = ["/tmp"]: the directories that pinfold searches, as absolute paths.
    std::vector<std::string> directories{"/dev/shm", "/tmp"};
    Microseconds minAge = 10min; ///< file_min_age = "10min": how long the timer keeps the files of a job after the job's end

    bool operator==(const LeftoverFilesConfig&) const = default;
};

} // namespace pinfold
