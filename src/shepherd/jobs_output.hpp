// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "schedulers/grid_engine.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace pinfold {

/// Whose job it is.
struct JobOwner {
    std::string name;
    uid_t uid = 0;
    gid_t gid = 0;
};

/// Adds the text to the file, if it is there. By a process with the owner's rights and no others: the path is the user's, and may
/// lead anywhere by now. Takes five seconds at most, whatever the file server does.
void addToJobsOutput(const JobOwner& owner, const GridEngineOutput& output, std::string_view text);

} // namespace pinfold
