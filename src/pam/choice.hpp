// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides who may log in to the node, and to which job. Pure. The messages of errors are for the user who wants to log in.
#pragma once

#include "base/result.hpp"
#include "model/wrapper_protocol.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

using Jobs = std::vector<WrapperJob>; ///< jobs of one user, in the order of WrapperReply

/// Success: the user has a job that runs or is suspended. Errors: NoSuchJob; JobEnding.
Result<void> mayLogIn(const Jobs& jobs, const std::string& node);

/// The jobs that a login can become part of.
Jobs openTo(const Jobs& jobs);

/// The job for a login. `origin`: the job from which the login comes, if that is known. Errors: as mayLogIn(); Busy when all jobs
/// are suspended; Denied when there are several and none may be chosen.
Result<std::string> chooseJob(const Jobs& jobs, const std::optional<std::string>& origin, bool denySeveral,
                              const std::string& node);

/// The message when it is not known which jobs the user has.
std::string cannotTell(const std::string& node);
/// The message when the job exists, but the login cannot become part of it.
std::string cannotJoin(const std::string& key, const std::string& node);
/// The message when the module's options are wrong.
std::string wronglySetUp(const std::string& node);

/// "/batch.slice/batch-<E>.slice/", in which all cgroups of the job are. Empty if the text is not a key.
std::string cgroupsOf(std::string_view key);
/// The key of the job in which this cgroup (a path as in /proc/PID/cgroup) is; nullopt: it is in none of these jobs.
std::optional<std::string> jobOf(std::string_view cgroup, const Jobs& jobs);

} // namespace pinfold
