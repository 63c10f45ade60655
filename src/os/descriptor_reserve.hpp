// SPDX-License-Identifier: LGPL-2.1-or-later
// Some of the descriptors that this process may have are kept free. Without them a job could not be ended well: its leftovers
// could not be listed, its figures not be read, its record not be stored, and its supervisor could not connect.
#pragma once

#include <cstdint>

namespace pinfold {

/// For what is open for a moment: files of cgroups, processes and records. No connection takes them.
inline constexpr std::uint64_t kReservedForWork = 64;
/// For these, and for the connections of supervisors. No new job and no new task takes them.
inline constexpr std::uint64_t kReservedForEnds = 256;

/// So that root always finds one, ordinary users have an eighth of all for connections, a sixteenth for what is to be closed and
/// does not close, and take no more than the first three quarters for jobs and tasks of their own.
inline constexpr std::uint64_t kPartForConnections = 8;
inline constexpr std::uint64_t kPartForClosing = 16;

/// The `part`-th part of the descriptors that this process may have.
std::uint64_t partOfDescriptors(std::uint64_t part);

/// Whether a new one would be of the last quarter.
bool onlyRootsQuarterIsLeft();

/// Whether it is one of the last `reserve` descriptors that this process may have. The kernel gives the lowest free number, so a
/// new descriptor's number tells how many are free. Where there may be fewer than 1024, the reserve is smaller in proportion.
bool isOfReserve(int descriptor, std::uint64_t reserve);

/// Whether a new one would be.
bool onlyReserveIsLeft(std::uint64_t reserve);

} // namespace pinfold
