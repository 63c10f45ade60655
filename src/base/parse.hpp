// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes sizes, durations and other amounts in the form that people use. The functions do not depend on the locale, and
// do no I/O.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Returns the text without the blanks at its ends.
std::string_view trim(std::string_view text);

/// systemd and org.pinfold1 use the value kInfinity for "no limit".
constexpr std::uint64_t kInfinity = UINT64_MAX;

/// Returns the limit, or nothing if the limit is unset or kInfinity.
constexpr std::optional<std::uint64_t> finite(const std::optional<std::uint64_t>& limit) {
    return limit == kInfinity ? std::nullopt : limit;
}

/// Reads a size such as "4096", "64K", "1.5G" or "infinity", and returns the number of bytes. The suffixes K, M, G, T, P and E
/// are powers of 1024, and "B" or "iB" can follow a suffix. Error: InvalidArgument.
Result<std::uint64_t> parseSize(std::string_view text);

/// Reads a duration in the form of systemd.time(7), such as "90" (seconds), "1.5s", "250ms", "2h 30min", "1d" or "infinity".
/// parseDuration() accepts the forms of a duration that Slurm prints, such as "1:30:00" and "2-06:00:00" (d-hh:mm:ss). "infinity"
/// means kForever. Error: InvalidArgument.
Result<Microseconds> parseDuration(std::string_view text);

/// Reads a CPU quota such as "150%" (like CPUQuota= in systemd.resource-control(5)) or "infinity". Returns the microseconds of
/// CPU time per second, such as 1500000 for "150%". Error: InvalidArgument.
Result<std::uint64_t> parseCpuQuota(std::string_view text);

/// Reads a number that consists of decimal digits only. Error: InvalidArgument.
Result<std::uint64_t> parseUnsigned(std::string_view text);

/// Returns the number of a signal such as "TERM", "SIGTERM", "15" or "RTMIN+1". Error: InvalidArgument.
Result<int> parseSignal(std::string_view text);

/// Returns "SIGTERM" for 15, and "signal 33" for a number without a name.
std::string signalName(int signal);

/// Returns a size as text, such as "1.5K" for 1536, and "infinity" for kInfinity.
std::string formatSize(std::uint64_t bytes);

/// Returns a duration in its two largest units, such as "1h 30min" for 90min. Below a minute, formatDuration() uses only one
/// unit, as in "1.5s" or "250ms". formatDuration() leaves out the part of the duration that is smaller than the smallest unit in
/// the text. Returns "infinity" for kForever.
std::string formatDuration(Microseconds duration);

/// Returns a text such as "1 process", "2 processes" or "0 processes".
std::string counted(std::uint64_t number, std::string_view one, std::string_view many);

/// Returns a UTC time such as "2026-11-20T22:43:09Z".
std::string formatUtc(RealTime time);

} // namespace pinfold
