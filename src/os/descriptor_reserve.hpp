// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes sure that some of pinfoldd's file descriptors stay free. Without free descriptors pinfoldd could not end a job properly.
// pinfoldd needs descriptors to list a job's leftovers, to read the job's resource use, and to store the job's record. Without
// free descriptors, the job's supervisor could not connect to pinfoldd.
#pragma once

#include <cstdint>

namespace pinfold {

/// Says how many descriptors stay free for files that pinfoldd opens only for a moment, such as records and the files of cgroups.
/// pinfoldd refuses a connection if only kReservedForWork descriptors are free.
inline constexpr std::uint64_t kReservedForWork = 64;
/// Says how many descriptors stay free for short-lived files and for the connections of supervisors. When only kReservedForEnds
/// descriptors are free, pinfoldd starts no new jobs and no new tasks.
inline constexpr std::uint64_t kReservedForEnds = 256;

/// Root must always find a free descriptor. The connections of all ordinary users together can use at most an eighth of
/// pinfoldd's descriptors. At most a sixteenth of pinfoldd's descriptors can be unclosed descriptors of ordinary users
/// (DescriptorCloser). The jobs and tasks of ordinary users can use at most three quarters of pinfoldd's descriptors.
inline constexpr std::uint64_t kPartForConnections = 8;
inline constexpr std::uint64_t kPartForClosing = 16;

/// Returns the maximum number of this process's descriptors, divided by `part`.
std::uint64_t partOfDescriptors(std::uint64_t part);

/// Returns true if at most a quarter of this process's descriptors is free. When only a quarter of this process's descriptors is
/// free, only root is allowed to use the free descriptors.
bool onlyRootsQuarterIsLeft();

/// If `reserve` is 64, isOfReserve() returns true for the 64 highest numbers that a descriptor of this process can have. The
/// kernel gives a new descriptor the lowest free number. If a new descriptor has a high number, all lower numbers are in use, so
/// few descriptors are free. If the process can have at most 1023 descriptors, isOfReserve() uses a proportionally smaller number
/// than `reserve`.
bool isOfReserve(int descriptor, std::uint64_t reserve);

/// Returns true if isOfReserve() would return true for a new descriptor.
bool onlyReserveIsLeft(std::uint64_t reserve);

} // namespace pinfold
