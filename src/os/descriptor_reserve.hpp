// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps some of this process's descriptors free. Without free descriptors pinfoldd could not end a job properly. pinfoldd needs
// descriptors to list the leftovers of a job, to read its resource use, and to store its record. Without free descriptors, the
// job's supervisor could not connect to pinfoldd.
#pragma once

#include <cstdint>

namespace pinfold {

/// Says how many descriptors stay free for files that pinfoldd opens and soon closes again, such as files of cgroups and records.
/// pinfoldd refuses a connection if only kReservedForWork descriptors are free.
inline constexpr std::uint64_t kReservedForWork = 64;
/// Says how many descriptors stay free for short-lived files and for the connections of supervisors. New jobs and new tasks do
/// not use the reserve kReservedForEnds.
inline constexpr std::uint64_t kReservedForEnds = 256;

/// Root must always find a free descriptor. The connections of all ordinary users together may take at most an eighth of all
/// descriptors. At most a sixteenth of all descriptors may hang in close() for ordinary users. The jobs and tasks of ordinary
/// users use only the first three quarters of all descriptors.
inline constexpr std::uint64_t kPartForConnections = 8;
inline constexpr std::uint64_t kPartForClosing = 16;

/// Returns the limit on the number of descriptors of this process, divided by `part`.
std::uint64_t partOfDescriptors(std::uint64_t part);

/// Returns true if at most a quarter of this process's descriptors is free. Only root may use the last quarter of the process's
/// descriptors.
bool onlyRootsQuarterIsLeft();

/// Returns true if the number `descriptor` is one of the `reserve` highest numbers of descriptors that this process may have. The
/// kernel gives a new descriptor the lowest free number. If a new descriptor has a high number, few descriptors are free. If the
/// process may have fewer than 1024 descriptors, isOfReserve() uses a proportionally smaller number than `reserve`.
bool isOfReserve(int descriptor, std::uint64_t reserve);

/// Returns true if isOfReserve() would return true for a new descriptor.
bool onlyReserveIsLeft(std::uint64_t reserve);

} // namespace pinfold
