// SPDX-License-Identifier: LGPL-2.1-or-later
// Whom the node lets in, and to which job. Pure. The messages of errors are for the user who wants to log in.
#pragma once

#include "base/result.hpp"
#include "model/wrapper_protocol.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

using Jobs = std::vector<WrapperJob>; ///< of one user, in the order of WrapperReply

/// A user with a job that runs or is suspended. Errors: NoSuchJob; JobEnding.
Result<void> mayLogIn(const Jobs& jobs, const std::string& node);

/// Those that a login can become part of.
Jobs openTo(const Jobs& jobs);

/// The job for a login. `origin`: the one that it comes from, if that is known. Errors: as mayLogIn(); Busy when all of them
/// are suspended; Denied when none of several is to be chosen.
Result<std::string> chooseJob(const Jobs& jobs, const std::optional<std::string>& origin, bool denySeveral,
                              const std::string& node);

/// When nobody can say which jobs there are.
std::string cannotTell(const std::string& node);
/// When the job is there and the login can't be made part of it.
std::string cannotJoin(const std::string& key, const std::string& node);
/// When the module's options are wrong.
std::string wronglySetUp(const std::string& node);

/// "/batch.slice/batch-<E>.slice/", in which all cgroups of the job are. Empty for what is no key.
std::string cgroupsOf(std::string_view key);
/// Those of which one has the cgroup (a path as in /proc/PID/cgroup) within.
std::optional<std::string> jobOf(std::string_view cgroup, const Jobs& jobs);

} // namespace pinfold
