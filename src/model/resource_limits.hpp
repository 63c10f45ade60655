// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/cpu_list.hpp"
#include "base/device_amounts.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace pinfold {

/// Says which processes of a job are killed when the job reaches its memory limit.
enum class OomPolicy {
    Job,     ///< all processes of the job
    Process, ///< one process, which the kernel chooses
};

/// Holds a job's limits. If a limit is unset, the site's default or the kernel's default applies. The value kInfinity means
/// that the job explicitly has no limit. Each member has a row in the table of limit_table.cpp, with the name, the range, the
/// systemd property and the cgroup file of the limit.
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
    std::optional<DeviceAmounts> ioReadIopsMax = {};       ///< in operations per second
    std::optional<DeviceAmounts> ioWriteIopsMax = {};      ///< in operations per second
    std::optional<std::string> deviceProfile = {};         ///< the name of a profile in the site's configuration
    std::optional<std::uint64_t> runTimeMax = {}; ///< microseconds of wall time, without the time in which the job was suspended
    std::optional<std::uint64_t> runTimeGrace = {}; ///< microseconds from the kill signal at the end of run_time_max to SIGKILL
    std::optional<std::uint64_t> killSignal = {};   ///< the first signal of a stop, 1 to 64
    std::optional<std::uint64_t> killGrace = {};    ///< microseconds from the kill signal to SIGKILL

    bool operator==(const ResourceLimits&) const = default;
};

/// Is true if the limit's member is a number.
template <class Member> constexpr bool kIsNumber = std::is_same_v<std::decay_t<Member>, std::optional<std::uint64_t>>;

/// Returns the duration of a limit that is a time, such as runTimeMax.
inline std::optional<Microseconds> timeLimit(std::optional<std::uint64_t> limit) {
    return limit ? std::optional(fromUsec<Microseconds>(*limit)) : std::nullopt;
}

/// Checks the ranges. The error LimitInvalid names the limit, its value and its range.
Result<void> validate(const ResourceLimits& limits);

/// Returns `limits` after each unset limit has got its value from `defaults`. For a new job, `defaults` has the site's
/// defaults. For a change of limits, `limits` is the change, and `defaults` has the present limits.
ResourceLimits withDefaults(ResourceLimits limits, const ResourceLimits& defaults);

/// Returns the name of the first limit in `limits` that is looser than the same limit in `ceiling`. If no limit is looser, the
/// result is nullptr. For an unset limit, looserThan() uses the kernel's default. A higher memory protection, a higher weight
/// and a different device profile are looser, because they are at the expense of other jobs. Disks are compared by their device
/// numbers, because one disk has several names.
const char* looserThan(const ResourceLimits& limits, const ResourceLimits& ceiling, const DeviceNumbers& numbers);

} // namespace pinfold
