// SPDX-License-Identifier: LGPL-2.1-or-later
// Decides who is allowed to log in to the node, and which job a login joins. All functions are pure. All error messages are
// written for the user who wants to log in.
#pragma once

#include "base/result.hpp"
#include "model/wrapper_protocol.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold::pam {

using Jobs = std::vector<WrapperJob>; ///< the jobs of one user, in the order of WrapperReply

/// Succeeds if the user has a job that runs or is suspended. Otherwise, fails with JobEnding if all jobs of the user are ending,
/// and with NoSuchJob if the user has no job or if a job is just starting.
Result<void> mayLogIn(const Jobs& jobs, const std::string& node);

/// Returns the jobs that a login can join.
Jobs openTo(const Jobs& jobs);

/// Returns the key of the job that a login joins. `origin` is the key of the job in which the ssh client of the login runs;
/// unset if the job is not known. If the user is not allowed to log in, chooseJob() fails with an error of mayLogIn(). Fails
/// with Busy if all jobs of the user are suspended. Fails with Denied if the user has several jobs and the module must not
/// choose one of them.
Result<std::string> chooseJob(const Jobs& jobs, const std::optional<std::string>& origin, bool denySeveral,
                              const std::string& node);

/// Returns the message for a user if the module cannot find out which jobs the user has.
std::string cannotTell(const std::string& node);
/// Returns the message for a login that cannot join the user's job although the job exists.
std::string cannotJoin(const std::string& key, const std::string& node);
/// Returns the message for a login when the module's options are wrong.
std::string wronglySetUp(const std::string& node);

/// Returns the path "/batch.slice/batch-<E>.slice/", which contains all cgroups of the job. Returns an empty text if `key` is not
/// a valid key of a job.
std::string cgroupsOf(std::string_view key);
/// Returns the key of the job that runs in the cgroup, or nullopt if no job in `jobs` runs in the cgroup. `cgroup` is a path as
/// in /proc/PID/cgroup.
std::optional<std::string> jobOf(std::string_view cgroup, const Jobs& jobs);

} // namespace pinfold::pam
