// SPDX-License-Identifier: LGPL-2.1-or-later
// The one table of limits. It has the name of each limit, how people write it, its range, and what systemd and the kernel make of
// it. The forms for D-Bus, JSON, the configuration and the command line are made from this table. A new limit needs a member of
// ResourceLimits and a row here. Reference: systemd.resource-control(5) of 252 and 257, cgroup-v2.rst.
#pragma once

#include "base/parse.hpp"
#include "model/resource_limits.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace pinfold {

/// How people write a limit.
enum class LimitForm { Size, Duration, Quota, Number, Signal, Numbers, Devices, Word, Name };

/// Whether a limit may be changed while the job runs.
enum class LimitChange { Live, AtStart };

/// A member of ResourceLimits. A member that is not a number has text: limitText() and setLimitText() in set_limit.hpp.
using LimitMember = std::variant<std::optional<std::uint64_t> ResourceLimits::*, std::optional<CpuList> ResourceLimits::*,
                                 std::optional<DeviceAmounts> ResourceLimits::*, std::optional<std::string> ResourceLimits::*,
                                 std::optional<OomPolicy> ResourceLimits::*>;

struct LimitRow {
    const char* name;
    LimitMember member;
    LimitForm form;
    const char* property = nullptr; ///< property of the job's slice and of task 0's scope; nullptr: none, or not one that simple
    unsigned since = 0;             ///< the first systemd version that has the property for both; 0: pinfoldd enforces the limit
    const char* controller = nullptr; ///< the cgroup controller that it needs; nullptr: none
    /// The file of the slice's cgroup that shows the limit. Every limit with a property has one, and no other.
    const char* cgroupFile = nullptr;
    const char* cgroupWord = "";        ///< what that file, or the line of a device in it, has before the amount
    std::uint64_t least = 0;            ///< of a number
    std::uint64_t most = kInfinity - 1; ///< the largest value of a number that is not kInfinity
    bool mayBeInfinite = false;
    std::uint64_t unset = 0; ///< the value that an unset number has in the kernel; it decides what is looser and tighter
    LimitChange change = LimitChange::Live;
    const char* range; ///< the range in words, for errors
    const char* help;  ///< one line, for --help
};

std::span<const LimitRow> limitTable();

/// Calls f(row, member) for each limit.
template <class Limits, class F> void forEachLimit(Limits& limits, F&& f) {
    for (const auto& row : limitTable())
        std::visit([&](auto member) { f(row, limits.*member); }, row.member);
}

/// nullptr: no limit has this name.
const LimitRow* findLimit(std::string_view name);

/// "--memory-max"
std::string limitOption(std::string_view name);

/// The limits of `limits` that need a newer systemd than `version`, "memory_zswap_max (systemd 253)", with commas between. Empty:
/// there is none.
std::string neededNewerSystemd(const ResourceLimits& limits, unsigned version);

/// `limits` without those that neededNewerSystemd() names.
ResourceLimits withoutNewer(ResourceLimits limits, unsigned version);

} // namespace pinfold
