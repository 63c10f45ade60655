// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/requests.hpp"

#include <sys/types.h>

#include <vector>

namespace pinfold {

/// Lists the processes of a job for JobManager::processes(). JobManager::processes() has already checked that the caller is
/// allowed to see the processes.
void listProcesses(Core& core, const Job& job, pid_t after, Reply<std::vector<JobProcess>> reply);

} // namespace pinfold
