// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/error_code.hpp"
#include "base/result.hpp"
#include "model/job_state.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Improves the error message that the user gets when a wait for the end of a job has failed. If the wait has timed out,
/// explained() asks pinfoldd for the state of the job, and puts the state into the error message.
Error explained(Error error, const std::string& key, Microseconds timeout);

/// Returns the error message about a job that has not ended within the user's time limit. `processes` is the number of processes
/// that the job still has. If the user is neither the job's owner nor an admin, `processes` is unset.
std::string stillThere(const std::string& key, std::optional<ShownState> state, std::optional<std::size_t> processes,
                       Microseconds timeout);

} // namespace pinfold
