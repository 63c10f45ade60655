// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/cpu_list.hpp"
#include "base/device_amounts.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace pinfold {

/// Says what the kernel kills when the job reaches a limit of its memory.
enum class OomPolicy {
    Job,     ///< all processes of the job
    Process, ///< one process, which the kernel chooses
};

/// Holds a job's limits. An unset limit has the site's default or the kernel's default. kInfinity means explicitly that there is
/// no limit. Each member has a row in the table of limit_table.cpp. The row has the limit's name, its range, and what systemd and
/// the kernel make of the limit.
struct ResourceLimits {
    std::optional<std::uint64_t> memoryMax = {};      ///< in bytes
    std::optional<std::uint64_t> memoryHigh = {};     ///< bytes above which the kernel throttles the job
    std::optional<std::uint64_t> memoryLow = {};      ///< bytes up to which the kernel protects the job's memory
    std::optional<std::uint64_t> memorySwapMax = {};  ///< bytes; 0 means no swap
    std::optional<std::uint64_t> memoryZswapMax = {}; ///< in bytes
    std::optional<OomPolicy> oomPolicy = {};
    std::optional<std::uint64_t> cpuQuota = {};  ///< microseconds of CPU time per second
    std::optional<std::uint64_t> cpuWeight = {}; ///< 1 to 10000
    std::optional<CpuList> allowedCpus = {};
    std::optional<CpuList> allowedMemoryNodes = {};
    std::optional<std::uint64_t> tasksMax = {};            ///< the most processes and threads
    std::optional<std::uint64_t> ioWeight = {};            ///< 1 to 10000
    std::optional<DeviceAmounts> ioReadBandwidthMax = {};  ///< in bytes for each second
    std::optional<DeviceAmounts> ioWriteBandwidthMax = {}; ///< in bytes for each second
    std::optional<DeviceAmounts> ioReadIopsMax = {};       ///< in operations for each second
    std::optional<DeviceAmounts> ioWriteIopsMax = {};      ///< in operations for each second
    std::optional<std::string> deviceProfile = {};         ///< the name of a profile in the site's configuration
    std::optional<std::uint64_t> runTimeMax = {}; ///< microseconds of wall time, without the time in which the job was suspended
    std::optional<std::uint64_t> runTimeGrace = {}; ///< microseconds from the kill signal at the end of run_time_max to SIGKILL
    std::optional<std::uint64_t> killSignal = {};   ///< the first signal of a stop, 1 to 64
    std::optional<std::uint64_t> killGrace = {};    ///< microseconds from the kill signal to SIGKILL

    bool operator==(const ResourceLimits&) const = default;
};

/// Is true if the limit's member is a number.
template <class Member> constexpr bool kIsNumber = std::is_same_v<std::decay_t<Member>, std::optional<std::uint64_t>>;

/// Checks the ranges. The error LimitInvalid names the limit, its value and its range.
Result<void> validate(const ResourceLimits& limits);

/// Returns `limits`, in which each unset limit has the value of `defaults`. `limits` may be a request and `defaults` the site's
/// defaults, or `limits` a change and `defaults` the limits in force.
ResourceLimits withDefaults(ResourceLimits limits, const ResourceLimits& defaults);

/// Returns the name of the first limit of `limits` that is looser than `ceiling` allows, or nullptr. An unset limit has the
/// kernel's default. More protection of memory, more weight and another device profile count as looser, because they take
/// something from other jobs. looserThan() compares disks by their numbers, because one disk has many names.
const char* looserThan(const ResourceLimits& limits, const ResourceLimits& ceiling, const DeviceNumbers& numbers);

} // namespace pinfold
