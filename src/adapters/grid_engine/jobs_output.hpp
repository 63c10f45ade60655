// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "adapters/grid_engine/translate.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace pinfold {

/// Describes the user who owns a job.
struct JobOwner {
    std::string name;
    uid_t uid = 0;
    gid_t gid = 0;
};

/// Adds the text to the job's output file, if the file exists. The user chose the path of the output file, and the path can
/// lead to any file of the node. Only a process with the rights of the job's owner writes to the output file. A call of
/// addToJobsOutput() takes at most five seconds, even if a file server does not answer.
void addToJobsOutput(const JobOwner& owner, const GridEngineOutput& output, std::string_view text);

} // namespace pinfold
