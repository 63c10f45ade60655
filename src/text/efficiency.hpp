// SPDX-License-Identifier: LGPL-2.1-or-later
// What a job used, against what it might have used. Unknown is unset.
#pragma once

#include "model/receipt.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

/// Microseconds in which it was not suspended.
std::uint64_t runTime(const Receipt& receipt);

/// Microseconds, user and system.
std::optional<std::uint64_t> cpuTime(const Usage& usage);

/// CPUs that it could keep busy, by its quota and its CPU list; unset where it has neither.
std::optional<double> cpusAllowed(const ResourceLimits& limits);

/// CPU time of what those CPUs had, 0 to 1; a little more where the kernel lent some of the next period's quota.
std::optional<double> cpuEfficiency(const Receipt& receipt);

/// Of a limit: unset where there is none.
std::optional<std::uint64_t> finite(std::optional<std::uint64_t> limit);

} // namespace pinfold
