// SPDX-License-Identifier: LGPL-2.1-or-later
// The one table of limits. It has the name of each limit, how people write it, its range, and what systemd and the kernel make of
// it. Reference: systemd.resource-control(5) of 252 and 257, cgroup-v2.rst.
#pragma once

#include "model/resource_limits.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace pinfold {

/// How people write a limit.
enum class LimitForm { Size, Duration, Quota, Number, Signal, Numbers, Devices, Word, Name };

/// Whether a limit may be changed while the job runs.
enum class LimitChange { Live, AtStart };

struct LimitRow {
    std::string_view name; ///< as in forEachLimit()
    LimitForm form;
    const char* property;   ///< property of the job's slice and of task 0's scope; nullptr: none, or not one that simple
    unsigned since;         ///< the first systemd version that has the property for both; 0: pinfoldd itself enforces the limit
    const char* controller; ///< the cgroup controller that it needs; nullptr: none
    std::uint64_t least;    ///< of a number
    std::uint64_t most;     ///< the largest value of a number that is not kInfinity
    bool mayBeInfinite;
    std::uint64_t unset; ///< the value that an unset number has in the kernel; it decides what is looser and tighter
    LimitChange change;
    const char* range; ///< the range in words, for errors
    const char* help;  ///< one line, for --help
};

std::span<const LimitRow> limitTable();

/// nullptr: no limit has this name.
const LimitRow* findLimit(std::string_view name);

/// The row of a limit that forEachLimit() names.
const LimitRow& limitRow(std::string_view name);

/// "--memory-max"
std::string limitOption(std::string_view name);

/// Sets one limit from what people write: "4G", "150%", "2h 30min", "0-3,8", "/dev/sda 10M", "TERM", "job".
/// Errors: InvalidArgument, LimitInvalid.
Result<void> setLimit(ResourceLimits& limits, std::string_view name, std::string_view text);

// The text, in D-Bus, in JSON and on screen, of limits that are not numbers.
inline std::string limitText(const CpuList& value) { return value.toString(); }
inline std::string limitText(const DeviceAmounts& value) { return value.toString(); }
inline std::string limitText(const std::string& value) { return value; }
inline std::string limitText(OomPolicy value) { return value == OomPolicy::Job ? "job" : "process"; }

// Set a limit from the text that limitText() gives. Error: InvalidArgument.
Result<void> setLimitText(std::string_view text, std::optional<CpuList>& limit);
Result<void> setLimitText(std::string_view text, std::optional<DeviceAmounts>& limit);
Result<void> setLimitText(std::string_view text, std::optional<std::string>& limit);
Result<void> setLimitText(std::string_view text, std::optional<OomPolicy>& limit);

/// The limits of `limits` that need a newer systemd than `version`, "memory_zswap_max (systemd 253)", with commas between. Empty:
/// there is none.
std::string neededNewerSystemd(const ResourceLimits& limits, unsigned version);

/// `limits` without those that neededNewerSystemd() names.
ResourceLimits withoutNewer(ResourceLimits limits, unsigned version);

} // namespace pinfold
