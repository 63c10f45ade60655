// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares what a job used with what it might have used. A result that is not known is unset.
#pragma once

#include "model/receipt.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

/// Returns the run time in microseconds without the time in which the job was suspended.
std::uint64_t runTime(const Receipt& receipt);

/// Returns the microseconds of CPU time, user and system.
std::optional<std::uint64_t> cpuTime(const Usage& usage);

/// Returns how many CPUs the job could keep busy by its quota and its CPU list, or nullopt if it has neither.
std::optional<double> cpusAllowed(const ResourceLimits& limits);

/// Returns the CPU time divided by the time that cpusAllowed() offered, from 0 to 1. The result is a little above 1 if the kernel
/// lent a part of the next period's quota.
std::optional<double> cpuEfficiency(const Receipt& receipt);

/// Returns the limit's value, or nullopt if there is no limit.
std::optional<std::uint64_t> finite(std::optional<std::uint64_t> limit);

} // namespace pinfold
