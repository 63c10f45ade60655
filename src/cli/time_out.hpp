// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/error_code.hpp"
#include "base/result.hpp"
#include "model/job_state.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// The error of a wait for a job's end. A time-out also says what the job still waits for, which is asked of pinfoldd now, if it
/// answers.
Error explained(Error error, const std::string& key, std::uint64_t timeout);

/// "job sge.1 is still ending after 300ms: 1 process is left". `processes` unset: not known, since only the job's owner and
/// admins may see it.
std::string stillThere(const std::string& key, std::optional<ShownState> state, std::optional<std::size_t> processes,
                       std::uint64_t timeout);

} // namespace pinfold
