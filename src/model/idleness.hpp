// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares the recent CPU time of a live job with the job's CPUs. Compares the job's memory use with the job's memory limit.
#pragma once

#include "base/clock.hpp"
#include "model/profile.hpp"
#include "model/resource_limits.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pinfold {

/// Returns how many CPUs a job could keep busy under its quota and its CPU list. Returns nullopt if the job has no quota and no
/// CPU list.
std::optional<double> cpusAllowed(const ResourceLimits& limits);

/// Returns how many CPUs a job holds. If cpusAllowed() has no result, cpusHeld() returns the number of the job's slots. Returns
/// nullopt if the job has no quota, no CPU list and no slots.
std::optional<double> cpusHeld(const ResourceLimits& limits, std::optional<std::uint64_t> slots);

/// Returns the job's memory limit in bytes. pinfold assumes that a job holds all memory that the limit allows. Returns nullopt
/// if the job has no memory limit, or if the limit is larger than the memory of any node.
std::optional<double> memoryHeld(const ResourceLimits& limits);

/// Says how much of a resource a live job used lately, and how much of this resource the job holds.
struct Idleness {
    double held = 0;     ///< the number of CPUs or the bytes of memory that the job holds; always above 0
    double used = 0;     ///< for CPUs, the mean number of busy CPUs; for memory, the bytes that the job needed
    Microseconds over{}; ///< the length of the period for which `used` was computed

    double percent() const { return used / held * 100; }
};

/// Returns true if the job uses less than `share` percent of the CPUs or of the memory that the job holds. Returns false if
/// `idleness` is unset.
inline bool isBelow(const std::optional<Idleness>& idleness, std::uint32_t share) {
    return idleness && idleness->percent() < share;
}

/// Counts the idle jobs. A job is idle if the job uses a smaller part of its CPUs or memory than the section [idle] requires.
struct IdleJobs {
    std::size_t cpus = 0;
    std::size_t memory = 0;

    bool operator==(const IdleJobs&) const = default;
};

/// Compares the CPUs that a job kept busy with the CPUs that the job holds. idlenessOf() uses the newest points of the profile,
/// but only as many points as cover the time `since`. Idleness::over is the sum of the lengths of the used points.
/// Idleness::over can exceed `since`, because a profile merges neighbouring points. Returns nullopt if `held` is unset or 0.
/// Returns nullopt if each point of the profile is older than `since`, which is a length of time. `age` is the time since the
/// job's start.
std::optional<Idleness> idlenessOf(const Profile& profile, std::optional<double> held, Microseconds age, Microseconds since);
/// Compares the highest sum of anonymous and shared memory with the memory that the job holds. memoryIdlenessOf() uses the same
/// points of the profile as idlenessOf(). Returns nullopt in the same cases as idlenessOf(). Returns nullopt if the sum of
/// anonymous and shared memory was always 0. The sum is always 0 on a node that does not count the memory of jobs.
std::optional<Idleness> memoryIdlenessOf(const Profile& profile, std::optional<double> held, Microseconds age,
                                         Microseconds since);

} // namespace pinfold
