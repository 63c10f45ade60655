// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the options and arguments that several verbs have.
#pragma once

#include "base/clock.hpp"
#include "options/option.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Describes the argument JOB of a command. JOB is the key of one job.
Option jobArgument(std::string& job, Offer offer = Offer::LiveJobs);

/// Describes the argument JOB... of a command. The user gives the key of at least one job as JOB....
Option jobsArgument(std::vector<std::string>& jobs, Offer offer = Offer::LiveJobs);

/// Returns a function that reads a duration. The returned function refuses durations below `least` and above `most`. In the error
/// message, `what` names the value, and `range` says which values are valid.
std::function<Result<Microseconds>(const std::string&)> durationFrom(Microseconds least, Microseconds most, const char* what,
                                                                     const char* range);

Option dryRunOption(bool& dryRun);
Option ownerOption(std::optional<std::string>& owner); ///< the value of the option is the argument `owner` of openProcesses()
Option rootOption(std::string& root);
Option userOption(std::optional<std::string>& user);

} // namespace pinfold
