// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/error_code.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

/// The error of a wait for a job's end. A time-out says what was waited for: asked of pinfoldd now, as far as it answers.
Error explained(Error error, const std::string& key, std::uint64_t timeout);

/// "job sge.1 is still ending after 300ms: 1 process is left". Unset: not known, since only its owner and admins may see it.
std::string stillThere(const std::string& key, const std::string& state, std::optional<std::size_t> processes,
                       std::uint64_t timeout);

} // namespace pinfold
