// SPDX-License-Identifier: LGPL-2.1-or-later
// What a job used, compared with what it might have used. A result that is not known is unset.
#pragma once

#include "model/receipt.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

/// Microseconds of the run in which the job was not suspended.
std::uint64_t runTime(const Receipt& receipt);

/// Microseconds of CPU time, user and system.
std::optional<std::uint64_t> cpuTime(const Usage& usage);

/// How many CPUs the job could keep busy, by its quota and its CPU list; unset if it has neither.
std::optional<double> cpusAllowed(const ResourceLimits& limits);

/// The CPU time divided by the time that cpusAllowed() offered, 0 to 1. It is a little more if the kernel lent some of the next
/// period's quota.
std::optional<double> cpuEfficiency(const Receipt& receipt);

/// The limit's value; unset if there is no limit.
std::optional<std::uint64_t> finite(std::optional<std::uint64_t> limit);

} // namespace pinfold
