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

/// What the kernel kills when the job hits a limit of its memory.
enum class OomPolicy {
    Job,     ///< everything that the job has
    Process, ///< one process, which the kernel picks
};

/// A job's limits. Unset: the kernel's default, or the site's default. kInfinity: explicitly no limit. Each member has a row in
/// the table of limit_table.cpp, which says all else about it: its name, its range, and what systemd and the kernel make of it.
struct ResourceLimits {
    std::optional<std::uint64_t> memoryMax = {};      ///< bytes
    std::optional<std::uint64_t> memoryHigh = {};     ///< bytes above which the job is throttled
    std::optional<std::uint64_t> memoryLow = {};      ///< bytes up to which the job's memory is protected
    std::optional<std::uint64_t> memorySwapMax = {};  ///< bytes; 0: no swap
    std::optional<std::uint64_t> memoryZswapMax = {}; ///< bytes
    std::optional<OomPolicy> oomPolicy = {};
    std::optional<std::uint64_t> cpuQuota = {};  ///< microseconds of CPU time per second
    std::optional<std::uint64_t> cpuWeight = {}; ///< 1 to 10000
    std::optional<CpuList> allowedCpus = {};
    std::optional<CpuList> allowedMemoryNodes = {};
    std::optional<std::uint64_t> tasksMax = {};            ///< processes and threads
    std::optional<std::uint64_t> ioWeight = {};            ///< 1 to 10000
    std::optional<DeviceAmounts> ioReadBandwidthMax = {};  ///< bytes a second
    std::optional<DeviceAmounts> ioWriteBandwidthMax = {}; ///< bytes a second
    std::optional<DeviceAmounts> ioReadIopsMax = {};       ///< operations a second
    std::optional<DeviceAmounts> ioWriteIopsMax = {};      ///< operations a second
    std::optional<std::string> deviceProfile = {};         ///< a name in the site's configuration
    std::optional<std::uint64_t> runTimeMax = {}; ///< microseconds of wall time, without the time in which the job was suspended
    std::optional<std::uint64_t> runTimeGrace = {}; ///< microseconds from the kill signal at the time limit to SIGKILL
    std::optional<std::uint64_t> killSignal = {};   ///< the first signal of a stop, 1 to 64
    std::optional<std::uint64_t> killGrace = {};    ///< microseconds from the kill signal to SIGKILL

    bool operator==(const ResourceLimits&) const = default;
};

/// True: the limit's member is a number.
template <class Member> constexpr bool kIsNumber = std::is_same_v<std::decay_t<Member>, std::optional<std::uint64_t>>;

/// Error: LimitInvalid, which names the limit, its value and its range.
Result<void> validate(const ResourceLimits& limits);

/// `limits`, where each unset limit has the value of `defaults`. For instance: a request and the site's defaults, or a change and
/// the limits in force.
ResourceLimits withDefaults(ResourceLimits limits, const ResourceLimits& defaults);

/// The name of the first limit of `limits` that is looser than `ceiling` allows (unset is the kernel's default), or nullptr.
/// More protection of memory, more weight and another device profile count as looser, because they take something from others.
/// Disks are compared by their numbers, because one disk has many names.
const char* looserThan(const ResourceLimits& limits, const ResourceLimits& ceiling, const DeviceNumbers& numbers);

} // namespace pinfold
