// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the CPU time that a live job used lately with the CPUs that the job holds.
#pragma once

#include "base/clock.hpp"
#include "model/profile.hpp"
#include "model/resource_limits.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

/// Returns how many CPUs a job could keep busy under its quota and its CPU list. Returns nullopt if the job has no quota and no
/// CPU list.
std::optional<double> cpusAllowed(const ResourceLimits& limits);

/// Returns how many CPUs a job holds: the result of cpusAllowed(), or else the number of its slots. Returns nullopt if the job
/// has no quota, no CPU list and no slots.
std::optional<double> cpusHeld(const ResourceLimits& limits, std::optional<std::uint64_t> slots);

/// Says how many CPUs a live job kept busy lately, and how many CPUs the job holds.
struct Idleness {
    double held = 0;     ///< the number of CPUs that the job holds, above 0
    double used = 0;     ///< the mean number of busy CPUs
    Microseconds over{}; ///< the length of the period of which `used` is the mean

    double percent() const { return used / held * 100; }
};

/// Returns the idleness of a job for a period of the length `since` that ends at the last look at the job. The time
/// Idleness::over may be longer than `since`, because a profile merges neighbouring points. Returns nullopt if `held` is unset or
/// 0, or if the last look at the job was at least the time `since` ago. `age` is the time since the job's start.
std::optional<Idleness> idlenessOf(const Profile& profile, std::optional<double> held, Microseconds age, Microseconds since);

} // namespace pinfold
