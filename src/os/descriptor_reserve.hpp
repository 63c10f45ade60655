// SPDX-License-Identifier: LGPL-2.1-or-later
// Some of the descriptors that this process may have are kept free. Without them pinfoldd could not end a job well: it could not
// list the job's leftovers, read its figures or store its record, and the job's supervisor could not connect.
#pragma once

#include <cstdint>

namespace pinfold {

/// Kept for files of cgroups, processes and records that are open for a moment. No connection takes these descriptors.
inline constexpr std::uint64_t kReservedForWork = 64;
/// Kept for such files and for the connections of supervisors. No new job and no new task takes these descriptors.
inline constexpr std::uint64_t kReservedForEnds = 256;

/// Root must always find a free descriptor. So ordinary users together have an eighth of all descriptors for connections and a
/// sixteenth for descriptors that are to be closed and do not close. For jobs and tasks of their own they take no more than the
/// first three quarters.
inline constexpr std::uint64_t kPartForConnections = 8;
inline constexpr std::uint64_t kPartForClosing = 16;

/// The number of descriptors that this process may have, divided by `part`.
std::uint64_t partOfDescriptors(std::uint64_t part);

/// True: a new descriptor would be one of the last quarter.
bool onlyRootsQuarterIsLeft();

/// True: `descriptor` is one of the last `reserve` descriptors that this process may have. The kernel gives the lowest free
/// number, so a new descriptor's number tells how many are free. If the process may have fewer than 1024, the reserve is smaller
/// in proportion.
bool isOfReserve(int descriptor, std::uint64_t reserve);

/// True: a new descriptor would be one of the last `reserve`.
bool onlyReserveIsLeft(std::uint64_t reserve);

} // namespace pinfold
