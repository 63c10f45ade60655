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
    Job,     ///< all processes of the job are killed
    Process, ///< the kernel chooses one process of the job, and kills it
};

/// Holds a job's limits. If a limit is unset, the site's default or the kernel's default applies. The value kInfinity means that
/// the job explicitly has no limit. Each member of ResourceLimits has a row in the table of limit_table.cpp. A row of the table
/// contains the name, the range, the systemd property and the cgroup file of one limit.
struct ResourceLimits {
    std::optional<std::uint64_t> memoryMax = {};      ///< the number of bytes above which the kernel kills the job
    std::optional<std::uint64_t> memoryHigh = {};     ///< the number of bytes above which the kernel slows the job down
    std::optional<std::uint64_t> memoryLow = {};      ///< the number of bytes up to which the kernel protects the job's memory
    std::optional<std::uint64_t> memorySwapMax = {};  ///< the maximum amount of swap in bytes; 0 means no swap
    std::optional<std::uint64_t> memoryZswapMax = {}; ///< the maximum amount of compressed swap in bytes
    std::optional<OomPolicy> oomPolicy = {};
    std::optional<std::uint64_t> cpuQuota = {};  ///< the CPU time that the job is allowed to use, in microseconds per second
    std::optional<std::uint64_t> cpuWeight = {}; ///< the weight of the job for CPU time, 1 to 10000
    std::optional<CpuList> allowedCpus = {};
    std::optional<CpuList> allowedMemoryNodes = {};
    std::optional<std::uint64_t> tasksMax = {};            ///< the maximum number of processes and threads
    std::optional<std::uint64_t> ioWeight = {};            ///< the weight of the job for disk access, 1 to 10000
    std::optional<DeviceAmounts> ioReadBandwidthMax = {};  ///< the maximum rate of reading for each device, in bytes per second
    std::optional<DeviceAmounts> ioWriteBandwidthMax = {}; ///< the maximum rate of writing for each device, in bytes per second
    std::optional<DeviceAmounts> ioReadIopsMax = {};       ///< the maximum rate of read operations for each device, per second
    std::optional<DeviceAmounts> ioWriteIopsMax = {};      ///< the maximum rate of write operations for each device, per second
    std::optional<std::string> deviceProfile = {};         ///< the name of a profile in the site's configuration
    /// The maximum run time in microseconds, without the time in which the job was suspended.
    std::optional<std::uint64_t> runTimeMax = {};
    /// The run time at which the batch system ends the job, in microseconds. pinfoldd warns the job before the batch system ends
    /// the job.
    std::optional<std::uint64_t> batchRunTimeMax = {};
    /// The time between the warning and runTimeEnd(), in microseconds. If runTimeWarning is 0, pinfoldd does not warn the job
    /// before the job's run time ends.
    std::optional<std::uint64_t> runTimeWarning = {};
    /// The number of the signal with which pinfoldd warns the job, 1 to 64. If runTimeWarningSignal is unset, pinfoldd sends no
    /// signal with the warning.
    std::optional<std::uint64_t> runTimeWarningSignal = {};
    /// If a job has reached run_time_max, pinfoldd waits for the time runTimeGrace between the kill signal and SIGKILL. The unit
    /// of runTimeGrace is the microsecond.
    std::optional<std::uint64_t> runTimeGrace = {};
    std::optional<std::uint64_t> killSignal = {}; ///< the number of the first signal that pinfoldd sends to stop the job, 1 to 64
    std::optional<std::uint64_t> killGrace = {};  ///< the time from the kill signal to SIGKILL, in microseconds

    bool operator==(const ResourceLimits&) const = default;
};

/// kIsNumber is true if limits of the type `Member` are numbers.
template <class Member> constexpr bool kIsNumber = std::is_same_v<std::decay_t<Member>, std::optional<std::uint64_t>>;

/// Converts a time limit in microseconds, such as runTimeMax, to a duration.
inline std::optional<Microseconds> timeLimit(std::optional<std::uint64_t> limit) {
    return limit ? std::optional(fromUsec<Microseconds>(*limit)) : std::nullopt;
}

/// Returns the run time at which pinfoldd or the batch system ends the job, in microseconds. The result is the smaller one of
/// the limits run_time_max and batch_run_time_max. The result is unset if the job has no limit on the run time.
std::optional<std::uint64_t> runTimeEnd(const ResourceLimits& limits);

/// Returns true if the batch system ends the job at runTimeEnd(), before the job reaches run_time_max.
bool batchSystemEndsFirst(const ResourceLimits& limits);

/// Checks the ranges. The error LimitInvalid names the limit, its value and its range.
Result<void> validate(const ResourceLimits& limits);

/// Returns a copy of `limits` in which each unset limit has the value from `defaults`. For a new job, `defaults` has the site's
/// defaults. When pinfoldd changes the limits of a live job, `limits` contains the changes, and `defaults` contains the job's
/// present limits.
ResourceLimits withDefaults(ResourceLimits limits, const ResourceLimits& defaults);

/// Returns the name of the first limit in `limits` that is looser than the limit of the same name in `ceiling`. If no limit is
/// looser in `limits` than in `ceiling`, the result is nullptr. For an unset limit, looserThan() uses the kernel's default. The
/// higher memory protection or weight counts as looser, because a high value can disadvantage other jobs. If `limits` and
/// `ceiling` have different device profiles, looserThan() counts the device profile as looser. Disks are compared by their device
/// numbers, because one disk has several names.
const char* looserThan(const ResourceLimits& limits, const ResourceLimits& ceiling, const DeviceNumbers& numbers);

} // namespace pinfold
