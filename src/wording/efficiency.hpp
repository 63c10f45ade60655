// SPDX-License-Identifier: LGPL-2.1-or-later
// Calculates which share of the available CPU time and memory a job used. If a function cannot calculate its result, it returns
// nullopt.
#pragma once

#include "base/clock.hpp"
#include "model/idleness.hpp"
#include "model/receipt.hpp"

#include <cstdint>
#include <optional>

namespace pinfold {

/// Returns the run time without the time in which the job was suspended.
Microseconds runTime(const Receipt& receipt);

/// Returns the sum of the CPU time in user mode and the CPU time in the kernel.
std::optional<Microseconds> cpuTime(const Usage& usage);

/// Returns how many CPUs the job held, as cpusHeld() says.
std::optional<double> cpusOf(const Receipt& receipt);

/// Returns the run time multiplied by cpusOf(), or nullopt if the product does not fit into 64 bits. The program seff uses the
/// name core-walltime for the run time multiplied by the number of CPUs.
std::optional<Microseconds> coreWalltime(const Receipt& receipt);

/// Returns the used CPU time divided by coreWalltime(). The result is normally a number from 0 to 1. The result can be a little
/// above 1, because the kernel sometimes lends the job a part of the next period's quota. If the job was not confined to its
/// slots, the result can be far above 1.
std::optional<double> cpuEfficiency(const Receipt& receipt);

/// Returns the memory need divided by the limit memory_max, or nullopt if the need or the limit is not known.
std::optional<double> memoryEfficiency(const Receipt& receipt);

/// Returns the sum of the anonymous and the shared memory that a live job has now.
std::optional<std::uint64_t> memoryInUse(const Usage& usage);

/// Returns how many bytes of page cache a live job has now. pageCache() subtracts the shared memory from the kernel's figure,
/// because the kernel cannot free shared memory.
std::optional<std::uint64_t> pageCache(const Usage& usage);

/// Returns the limit's value, or nullopt if there is no limit.
std::optional<Microseconds> finite(std::optional<Microseconds> limit);

} // namespace pinfold
