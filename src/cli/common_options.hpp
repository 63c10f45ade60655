// SPDX-License-Identifier: LGPL-2.1-or-later
// Options and arguments that several verbs have.
#pragma once

#include "options/option.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// The argument JOB, for the key of one job.
Option jobArgument(std::string& job, Offer offer = Offer::LiveJobs);

/// The argument JOB..., for one or more jobs.
Option jobsArgument(std::vector<std::string>& jobs, Offer offer = Offer::LiveJobs);

Option dryRunOption(bool& dryRun);
Option ownerOption(std::optional<std::string>& owner); ///< for openProcesses()
Option rootOption(std::string& root);
Option userOption(std::optional<std::string>& user);

} // namespace pinfold
