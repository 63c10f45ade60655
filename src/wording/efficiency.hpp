// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the resources that a job used with the resources that it could have used. An unknown result is unset.
#pragma once

#include "base/clock.hpp"
#include "model/receipt.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

/// Returns the run time without the time in which the job was suspended.
Microseconds runTime(const Receipt& receipt);

/// Returns the CPU time, user and system.
std::optional<Microseconds> cpuTime(const Usage& usage);

/// Returns how many CPUs the job could keep busy under its quota and its CPU list. Returns nullopt if the job has no quota and
/// no CPU list.
std::optional<double> cpusAllowed(const ResourceLimits& limits);

/// Returns the used CPU time divided by the CPU time that the job could use by cpusAllowed(), a number from 0 to 1. The result
/// may be a little above 1, because the kernel may lend the job a part of the next period's quota.
std::optional<double> cpuEfficiency(const Receipt& receipt);

/// Returns the limit's value, or nullopt if there is no limit.
std::optional<std::uint64_t> finite(std::optional<std::uint64_t> limit);
std::optional<Microseconds> finite(std::optional<Microseconds> limit);

} // namespace pinfold
