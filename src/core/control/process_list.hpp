// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"
#include "core/requests.hpp"

#include <sys/types.h>

#include <vector>

namespace pinfold {

/// Does what JobManager::processes() does, for callers who may see the processes.
void listProcesses(Core& core, const Job& job, pid_t after, Reply<std::vector<JobProcess>> reply);

} // namespace pinfold
