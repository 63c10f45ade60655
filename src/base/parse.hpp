// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads amounts as people write them, and writes them. No locale, no I/O.
#pragma once

#include "base/result.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace pinfold {

/// The value that systemd and org.pinfold1 use for "no limit".
constexpr std::uint64_t kInfinity = UINT64_MAX;

/// "4096", "64K", "1.5G" (powers of 1024; suffixes K M G T P E, "B" and "iB" may follow), "infinity" → bytes.
/// Error: InvalidArgument.
Result<std::uint64_t> parseSize(std::string_view text);

/// "90" (seconds), "1.5s", "250ms", "2h 30min", "1d", "infinity" → microseconds, as in systemd.time(7).
/// Error: InvalidArgument.
Result<std::uint64_t> parseDuration(std::string_view text);

/// "150%" → 1500000 microseconds of CPU time per second, as CPUQuota= in systemd.resource-control(5); "infinity".
/// Error: InvalidArgument.
Result<std::uint64_t> parseCpuQuota(std::string_view text);

/// Reads a number of decimal digits only. Error: InvalidArgument.
Result<std::uint64_t> parseUnsigned(std::string_view text);

/// "TERM", "SIGTERM", "15", "RTMIN+1" → number. Error: InvalidArgument.
Result<int> parseSignal(std::string_view text);

/// 15 → "SIGTERM"; numbers without a name → "signal 33".
std::string signalName(int signal);

/// 1536 → "1.5K"; kInfinity → "infinity".
std::string formatSize(std::uint64_t bytes);

/// 5400000000 → "1h 30min"; the two largest units; kInfinity → "infinity".
std::string formatDuration(std::uint64_t usec);

/// "1 process", "2 processes", "0 processes".
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

/// Microseconds since 1970 → "2026-11-20T22:43:09Z".
std::string formatUtc(std::uint64_t realtimeUsec);

} // namespace pinfold
