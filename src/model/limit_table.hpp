// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the table of limits. For each limit, the table contains the name, the form of the value, and the valid range of the
// value. The table contains the systemd property and the cgroup file of each limit. The code for D-Bus, JSON, the configuration
// and the command line uses the table of limits. To add a limit, add a member to ResourceLimits and a row to the table of limits.
// Reference: systemd.resource-control(5) of 252 and 257, cgroup-v2.rst.
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

/// Says in which form people write the value of a limit.
enum class LimitForm { Size, Duration, Quota, Number, Signal, Numbers, Devices, Word, Name };

/// Says whether users can change a limit while the job runs.
enum class LimitChange { Live, AtStart };

/// A LimitMember points to a member of ResourceLimits. limitText() converts lists, names and other values that are not numbers to
/// a text. setLimitText() of set_limit.hpp converts the text to a value.
using LimitMember = std::variant<std::optional<std::uint64_t> ResourceLimits::*, std::optional<CpuList> ResourceLimits::*,
                                 std::optional<DeviceAmounts> ResourceLimits::*, std::optional<std::string> ResourceLimits::*,
                                 std::optional<OomPolicy> ResourceLimits::*>;

struct LimitRow {
    const char* name;
    LimitMember member;
    LimitForm form;
    /// The systemd property that sets the limit for the job's slice and for task 0's scope. `property` is a nullptr if the limit
    /// needs several systemd properties or none.
    const char* property = nullptr;
    /// The first systemd version that supports `property` for slices and for scopes. If pinfoldd itself enforces the limit, the
    /// member `since` is 0.
    unsigned since = 0;
    const char* controller = nullptr; ///< the cgroup controller for the limit; nullptr if the limit needs no controller
    /// The file that shows the limit in the cgroup of the job's slice. `cgroupFile` is a nullptr if and only if `property` is a
    /// nullptr.
    const char* cgroupFile = nullptr;
    /// The text that stands before the amount of the limit in the file `cgroupFile`. If the file has a line for each device,
    /// each line contains `cgroupWord`.
    const char* cgroupWord = "";
    std::uint64_t least = 0;            ///< the smallest valid number for the limit
    std::uint64_t most = kInfinity - 1; ///< the largest valid number for the limit, apart from kInfinity
    bool mayBeInfinite = false;
    /// A limit is harmless if no value of the limit takes anything from other users. pinfoldd allows every user to set a harmless
    /// limit to any value.
    bool harmless = false;
    /// The value that the kernel uses if the limit is unset. To compare an unset limit with a set limit, pinfold uses the value
    /// `unset` for the unset limit.
    std::uint64_t unset = 0;
    LimitChange change = LimitChange::Live;
    const char* range; ///< the valid range in words, for error messages
    const char* help;  ///< the text for --help, in one line
};

std::span<const LimitRow> limitTable();

/// Calls f(row, member) for each limit.
template <class Limits, class F> void forEachLimit(Limits& limits, F&& f) {
    for (const auto& row : limitTable())
        std::visit([&](auto member) { f(row, limits.*member); }, row.member);
}

/// Returns the row of the limit with the name `name`, or nullptr if no limit has the name.
const LimitRow* findLimit(std::string_view name);

/// Returns the option of the command line for a limit, such as "--memory-max".
std::string limitOption(std::string_view name);

/// Lists the limits that are set, but need a newer systemd than `version`. Commas separate the entries of the list. Each entry
/// has a form such as "memory_zswap_max (systemd 253)". The list is empty if no limit needs a newer systemd.
std::string neededNewerSystemd(const ResourceLimits& limits, unsigned version);

/// Returns `limits` without the limits that neededNewerSystemd() names.
ResourceLimits withoutNewer(ResourceLimits limits, unsigned version);

} // namespace pinfold
