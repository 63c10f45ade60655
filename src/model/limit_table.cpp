// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/limit_table.hpp"

#include "base/word_list.hpp"

#include <algorithm>
#include <array>

namespace pinfold {
namespace {

using enum LimitForm;
using enum LimitChange;

constexpr std::uint64_t kMebi = 1 << 20;
constexpr std::uint64_t kHour = 3'600'000'000;
constexpr std::uint64_t kDay = 24 * kHour;
constexpr std::uint64_t kMostWeight = 10'000;
constexpr std::uint64_t kUsualWeight = 100;
constexpr const char* kSizeRange = "at least 1M (1048576 bytes)";
constexpr const char* kAnySize = "bytes, 0 or more";
constexpr const char* kWeightRange = "1 to 10000";
constexpr const char* kGraceRange = "0 to 1 h (3600000000 microseconds)";
constexpr const char* kDevices = "devices below /dev, each with an amount of at least 1";

// systemd 252 and 257 accept the properties in kTable for slices and for transient scopes. Limits that are times or signals
// have no systemd property, because pinfoldd itself implements these limits. kTable does not contain RuntimeMaxUSec and
// TimeoutStopUSec, because the two properties apply to one scope and not to the whole job. systemd cannot change RuntimeMaxUSec
// and TimeoutStopUSec of a running scope.
constexpr std::array kTable{
    LimitRow{.name = "memory_max",
             .member = &ResourceLimits::memoryMax,
             .form = Size,
             .property = "MemoryMax",
             .since = 231,
             .controller = "memory",
             .cgroupFile = "memory.max",
             .least = kMebi,
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = kSizeRange,
             .help = "kill the job above this much memory (bytes, or K, M, G, T)"},
    LimitRow{.name = "memory_high",
             .member = &ResourceLimits::memoryHigh,
             .form = Size,
             .property = "MemoryHigh",
             .since = 231,
             .controller = "memory",
             .cgroupFile = "memory.high",
             .least = kMebi,
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = kSizeRange,
             .help = "slow the job down above this much memory"},
    LimitRow{.name = "memory_low",
             .member = &ResourceLimits::memoryLow,
             .form = Size,
             .property = "MemoryLow",
             .since = 240,
             .controller = "memory",
             .cgroupFile = "memory.low",
             .mayBeInfinite = true,
             .range = kAnySize,
             .help = "protect this much memory of the job from being reclaimed"},
    LimitRow{.name = "memory_swap_max",
             .member = &ResourceLimits::memorySwapMax,
             .form = Size,
             .property = "MemorySwapMax",
             .since = 232,
             .controller = "memory",
             .cgroupFile = "memory.swap.max",
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = kAnySize,
             .help = "let the job use at most this much swap (0: none)"},
    LimitRow{.name = "memory_zswap_max",
             .member = &ResourceLimits::memoryZswapMax,
             .form = Size,
             .property = "MemoryZSwapMax",
             .since = 253,
             .controller = "memory",
             .cgroupFile = "memory.zswap.max",
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = kAnySize,
             .help = "let the job use at most this much compressed swap (systemd 253)"},
    LimitRow{.name = "oom_policy",
             .member = &ResourceLimits::oomPolicy,
             .form = Word,
             .since = 243,
             .controller = "memory",
             .change = AtStart,
             .range = "job or process",
             .help = "what the kernel kills above memory-max (job or process)"},
    LimitRow{.name = "cpu_quota",
             .member = &ResourceLimits::cpuQuota,
             .form = Quota,
             .property = "CPUQuotaPerSecUSec",
             .since = 213,
             .controller = "cpu",
             .cgroupFile = "cpu.max",
             .least = 10'000,
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = "at least 1% of a CPU (10000 microseconds per second)",
             .help = "let the job use at most this much CPU time (150%: 1.5 CPUs)"},
    LimitRow{.name = "cpu_weight",
             .member = &ResourceLimits::cpuWeight,
             .form = Number,
             .property = "CPUWeight",
             .since = 232,
             .controller = "cpu",
             .cgroupFile = "cpu.weight",
             .least = 1,
             .most = kMostWeight,
             .unset = kUsualWeight,
             .range = kWeightRange,
             .help = "the job's relative share of CPU time: 1 to 10000"},
    LimitRow{.name = "allowed_cpus",
             .member = &ResourceLimits::allowedCpus,
             .form = Numbers,
             .property = "AllowedCPUs",
             .since = 244,
             .controller = "cpuset",
             .cgroupFile = "cpuset.cpus",
             .range = "a list such as 0-3,8",
             .help = "let the job use only these CPUs (for example 0-3,8)"},
    LimitRow{.name = "allowed_memory_nodes",
             .member = &ResourceLimits::allowedMemoryNodes,
             .form = Numbers,
             .property = "AllowedMemoryNodes",
             .since = 244,
             .controller = "cpuset",
             .cgroupFile = "cpuset.mems",
             .range = "a list such as 0,2",
             .help = "let the job use only these NUMA nodes (for example 0,2)"},
    LimitRow{.name = "tasks_max",
             .member = &ResourceLimits::tasksMax,
             .form = Number,
             .property = "TasksMax",
             .since = 227,
             .controller = "pids",
             .cgroupFile = "pids.max",
             .least = 1,
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = "at least 1",
             .help = "let the job have at most this many processes and threads"},
    LimitRow{.name = "io_weight",
             .member = &ResourceLimits::ioWeight,
             .form = Number,
             .property = "IOWeight",
             .since = 230,
             .controller = "io",
             .cgroupFile = "io.weight",
             .cgroupWord = "default ",
             .least = 1,
             .most = kMostWeight,
             .unset = kUsualWeight,
             .range = kWeightRange,
             .help = "the job's relative share of disk access: 1 to 10000"},
    LimitRow{.name = "io_read_bandwidth_max",
             .member = &ResourceLimits::ioReadBandwidthMax,
             .form = Devices,
             .property = "IOReadBandwidthMax",
             .since = 230,
             .controller = "io",
             .cgroupFile = "io.max",
             .cgroupWord = "rbps=",
             .least = 1,
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = kDevices,
             .help = "let the job read at most this much a second: \"/dev/sda 10M\""},
    LimitRow{.name = "io_write_bandwidth_max",
             .member = &ResourceLimits::ioWriteBandwidthMax,
             .form = Devices,
             .property = "IOWriteBandwidthMax",
             .since = 230,
             .controller = "io",
             .cgroupFile = "io.max",
             .cgroupWord = "wbps=",
             .least = 1,
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = kDevices,
             .help = "let the job write at most this much a second: \"/dev/sda 10M\""},
    LimitRow{.name = "io_read_iops_max",
             .member = &ResourceLimits::ioReadIopsMax,
             .form = Devices,
             .property = "IOReadIOPSMax",
             .since = 230,
             .controller = "io",
             .cgroupFile = "io.max",
             .cgroupWord = "riops=",
             .least = 1,
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = kDevices,
             .help = "let the job make at most this many reads a second: \"/dev/sda 100\""},
    LimitRow{.name = "io_write_iops_max",
             .member = &ResourceLimits::ioWriteIopsMax,
             .form = Devices,
             .property = "IOWriteIOPSMax",
             .since = 230,
             .controller = "io",
             .cgroupFile = "io.max",
             .cgroupWord = "wiops=",
             .least = 1,
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = kDevices,
             .help = "let the job make at most this many writes a second: \"/dev/sda 100\""},
    LimitRow{.name = "device_profile",
             .member = &ResourceLimits::deviceProfile,
             .form = Name,
             .since = 208,
             .change = AtStart,
             .range = "a name of the configuration's [devices]: letters, digits, - and _",
             .help = "let the job open only the devices of this [devices] profile"},
    LimitRow{.name = "run_time_max",
             .member = &ResourceLimits::runTimeMax,
             .form = Duration,
             .least = 1'000,
             .mayBeInfinite = true,
             .unset = kInfinity,
             .range = "at least 1 ms (1000 microseconds)",
             .help = "stop the job after this time (for example 2h 30min)"},
    LimitRow{.name = "batch_run_time_max",
             .member = &ResourceLimits::batchRunTimeMax,
             .form = Duration,
             .least = 1'000,
             .mayBeInfinite = true,
             .harmless = true,
             .unset = kInfinity,
             .range = "at least 1 ms (1000 microseconds)",
             .help = "the batch system ends the job after this time; pinfoldd only warns"},
    LimitRow{.name = "run_time_warning",
             .member = &ResourceLimits::runTimeWarning,
             .form = Duration,
             .most = kDay,
             .harmless = true,
             .range = "0 to 1 d (86400000000 microseconds)",
             .help = "warn the job this long before its run time is over (0: never)"},
    LimitRow{.name = "run_time_warning_signal",
             .member = &ResourceLimits::runTimeWarningSignal,
             .form = Signal,
             .least = 1,
             .most = 64,
             .harmless = true,
             .range = "1 to 64",
             .help = "send this signal at run-time-warning (default: none)"},
    LimitRow{.name = "run_time_grace",
             .member = &ResourceLimits::runTimeGrace,
             .form = Duration,
             .most = kHour,
             .range = kGraceRange,
             .help = "at run-time-max, wait this long between the kill signal and SIGKILL"},
    LimitRow{.name = "kill_signal",
             .member = &ResourceLimits::killSignal,
             .form = Signal,
             .least = 1,
             .most = 64,
             .harmless = true,
             .unset = 15,
             .range = "1 to 64",
             .help = "the first signal with which pinfoldd stops the job (default: TERM)"},
    LimitRow{.name = "kill_grace",
             .member = &ResourceLimits::killGrace,
             .form = Duration,
             .most = kHour,
             .range = kGraceRange,
             .help = "wait this long between the kill signal and SIGKILL"},
};

/// AnyMember can be converted to the type of each member of ResourceLimits.
struct AnyMember {
    template <class T>
    operator std::optional<T>() const; // NOLINT(google-explicit-constructor): the conversion has to be implicit
};

/// Returns the number of members of ResourceLimits. countMembers() tries initializers of a ResourceLimits with 1 value, 2 values,
/// 3 values and so on. If an initializer has more values than ResourceLimits has members, the compiler refuses the initializer.
template <class... Members> consteval std::size_t countMembers() {
    if constexpr (requires { ResourceLimits{Members{}..., AnyMember{}}; })
        return countMembers<Members..., AnyMember>();
    else
        return sizeof...(Members);
}

consteval bool hasEachMemberOnce() {
    for (std::size_t i = 0; i < kTable.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (kTable[i].member == kTable[j].member)
                return false;
    return kTable.size() == countMembers<>();
}
static_assert(hasEachMemberOnce(), "each member of ResourceLimits has one row in the table of limits");

} // namespace

std::span<const LimitRow> limitTable() { return kTable; }

const LimitRow* findLimit(std::string_view name) {
    const auto* const row = std::find_if(kTable.begin(), kTable.end(), [name](const auto& known) { return known.name == name; });
    return row == kTable.end() ? nullptr : row;
}

std::string limitOption(std::string_view name) {
    std::string option = "--" + std::string(name);
    std::replace(option.begin(), option.end(), '_', '-');
    return option;
}

std::string neededNewerSystemd(const ResourceLimits& limits, unsigned version) {
    std::vector<std::string> names;
    forEachLimit(limits, [&](const LimitRow& row, const auto& limit) {
        if (limit && row.since > version)
            names.push_back(std::string(row.name) + " (systemd " + std::to_string(row.since) + ")");
    });
    return joined(names, ", ");
}

ResourceLimits withoutNewer(ResourceLimits limits, unsigned version) {
    forEachLimit(limits, [version](const LimitRow& row, auto& limit) {
        if (row.since > version)
            limit.reset();
    });
    return limits;
}

} // namespace pinfold
