// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/grid_engine/translate.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace pinfold {

/// Is the user to whom a job belongs.
struct JobOwner {
    std::string name;
    uid_t uid = 0;
    gid_t gid = 0;
};

/// Adds the text to the file, if the file exists. A process with only the owner's rights writes it, because the user chose the
/// path, and the path may lead anywhere by now. The call takes at most five seconds, whatever the file server does.
void addToJobsOutput(const JobOwner& owner, const GridEngineOutput& output, std::string_view text);

} // namespace pinfold
