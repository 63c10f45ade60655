// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides who may log in to the node, and which job a login joins. All functions are pure. The messages of errors are for the
// user who wants to log in.
#pragma once

#include "base/result.hpp"
#include "model/wrapper_protocol.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

using Jobs = std::vector<WrapperJob>; ///< the jobs of one user, in the order of WrapperReply

/// Succeeds if the user has a job that runs or is suspended. Errors: NoSuchJob; JobEnding.
Result<void> mayLogIn(const Jobs& jobs, const std::string& node);

/// Returns the jobs that a login can join.
Jobs openTo(const Jobs& jobs);

/// Returns the key of the job that a login joins. `origin` is the job from which the login comes, if that is known. Errors: those
/// of mayLogIn(); Busy if all jobs are suspended; Denied if there are several jobs and the module may choose none of them.
Result<std::string> chooseJob(const Jobs& jobs, const std::optional<std::string>& origin, bool denySeveral,
                              const std::string& node);

/// Returns the message for the case that it is not known which jobs the user has.
std::string cannotTell(const std::string& node);
/// Returns the message for the case that the job exists, but the login cannot join the job.
std::string cannotJoin(const std::string& key, const std::string& node);
/// Returns the message for the case that the module's options are wrong.
std::string wronglySetUp(const std::string& node);

/// Returns "/batch.slice/batch-<E>.slice/", in which all cgroups of the job are. Returns an empty text if `key` is not a key.
std::string cgroupsOf(std::string_view key);
/// Returns the key of the job that contains this cgroup (a path as in /proc/PID/cgroup), or nullopt if none of these jobs
/// contains it.
std::optional<std::string> jobOf(std::string_view cgroup, const Jobs& jobs);

} // namespace pinfold
