// SPDX-License-Identifier: LGPL-2.1-or-later
// Opens pidfds of running processes that the user wants to add to a job.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinfold {

/// Opens pidfds for the process ids that the user typed. `owner` is a name or an id. If a process does not belong to `owner`,
/// openProcesses() returns an error. If the process that the user meant has ended, a new process can have the same id.
Result<std::vector<UniqueFd>> openProcesses(const std::vector<std::string>& pids, const std::optional<std::string>& owner);

/// Returns the processes that have not ended and are not in the given slice.
std::vector<UniqueFd> outsideOf(const std::string& slice, std::vector<UniqueFd> processes);

using AddedTask = std::pair<std::uint32_t, std::string>; ///< the number of the task, and the name of the task's scope

// The caller of adoptAtSocket() or addBatchScriptAtSocket() needs no rights on the bus, because both functions use the wrapper's
// socket.
/// The argument `owner` is the owner of the job.
Result<AddedTask> adoptAtSocket(const std::string& key, uid_t owner, const UniqueFd& process);
Result<AddedTask> addBatchScriptAtSocket(const std::string& key, const UniqueFd& process);

} // namespace pinfold
