// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/error_code.hpp"
#include "base/result.hpp"
#include "model/job_state.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// Returns the error of a wait for a job's end. For a time-out, explained() asks pinfoldd what the job still waits for and adds
/// that to the message, if pinfoldd answers.
Error explained(Error error, const std::string& key, std::uint64_t timeout);

/// Returns a text such as "job sge.1 is still ending after 300ms: 1 process is left". `processes` is unset if the number is not
/// known, because only the job's owner and admins may see it.
std::string stillThere(const std::string& key, std::optional<ShownState> state, std::optional<std::size_t> processes,
                       std::uint64_t timeout);

} // namespace pinfold
