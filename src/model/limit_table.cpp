// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/limit_table.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <algorithm>
#include <array>

namespace pinfold {
namespace {

using enum LimitForm;
using enum LimitChange;

constexpr std::uint64_t kMebi = 1 << 20;
constexpr std::uint64_t kHour = 3'600'000'000;
constexpr std::uint64_t kMost = UINT64_MAX - 1;
constexpr const char* kSizeRange = "at least 1M (1048576 bytes)";
constexpr const char* kAnySize = "bytes, 0 or more";
constexpr const char* kWeightRange = "1 to 10000";
constexpr const char* kDevices = "devices below /dev with an amount of at least 1 each";

// systemd 252 and 257 accept these properties for slices and for transient scopes. pinfoldd itself implements times and signals:
// RuntimeMaxUSec and TimeoutStopUSec of a running scope cannot be changed, and do not concern the whole job.
constexpr std::array kTable{
    LimitRow{"memory_max", Size, "MemoryMax", 231, "memory", kMebi, kMost, true, kInfinity, Live, kSizeRange,
             "kill above this much memory (bytes, or K, M, G, T)"},
    LimitRow{"memory_high", Size, "MemoryHigh", 231, "memory", kMebi, kMost, true, kInfinity, Live, kSizeRange,
             "slow the job down above this much memory"},
    LimitRow{"memory_low", Size, "MemoryLow", 240, "memory", 0, kMost, true, 0, Live, kAnySize,
             "protect this much memory from being reclaimed"},
    LimitRow{"memory_swap_max", Size, "MemorySwapMax", 232, "memory", 0, kMost, true, kInfinity, Live, kAnySize,
             "use at most this much swap (0: none)"},
    LimitRow{"memory_zswap_max", Size, "MemoryZSwapMax", 253, "memory", 0, kMost, true, kInfinity, Live, kAnySize,
             "use at most this much compressed swap (systemd 253)"},
    LimitRow{"oom_policy", Word, nullptr, 243, "memory", 0, 0, false, 0, AtStart, "job or process",
             "what is killed above memory-max: job or process"},
    LimitRow{"cpu_quota", Quota, "CPUQuotaPerSecUSec", 213, "cpu", 10'000, kMost, true, kInfinity, Live,
             "at least 1% of a CPU (10000 microseconds per second)", "use at most this much CPU time (150%: 1.5 CPUs)"},
    LimitRow{"cpu_weight", Number, "CPUWeight", 232, "cpu", 1, 10'000, false, 100, Live, kWeightRange,
             "relative share of CPU time: 1 to 10000"},
    LimitRow{"allowed_cpus", Numbers, "AllowedCPUs", 244, "cpuset", 0, 0, false, 0, Live, "a list such as 0-3,8",
             "use only these CPUs: 0-3,8"},
    LimitRow{"allowed_memory_nodes", Numbers, "AllowedMemoryNodes", 244, "cpuset", 0, 0, false, 0, Live, "a list such as 0,2",
             "use only these NUMA nodes: 0,2"},
    LimitRow{"tasks_max", Number, "TasksMax", 227, "pids", 1, kMost, true, kInfinity, Live, "at least 1",
             "have at most this many processes and threads"},
    LimitRow{"io_weight", Number, "IOWeight", 230, "io", 1, 10'000, false, 100, Live, kWeightRange,
             "relative share of disk access: 1 to 10000"},
    LimitRow{"io_read_bandwidth_max", LimitForm::Devices, "IOReadBandwidthMax", 230, "io", 1, kMost, true, kInfinity, Live,
             kDevices, "read at most this much a second: \"/dev/sda 10M\""},
    LimitRow{"io_write_bandwidth_max", LimitForm::Devices, "IOWriteBandwidthMax", 230, "io", 1, kMost, true, kInfinity, Live,
             kDevices, "write at most this much a second: \"/dev/sda 10M\""},
    LimitRow{"io_read_iops_max", LimitForm::Devices, "IOReadIOPSMax", 230, "io", 1, kMost, true, kInfinity, Live, kDevices,
             "at most this many reads a second: \"/dev/sda 100\""},
    LimitRow{"io_write_iops_max", LimitForm::Devices, "IOWriteIOPSMax", 230, "io", 1, kMost, true, kInfinity, Live, kDevices,
             "at most this many writes a second: \"/dev/sda 100\""},
    LimitRow{"device_profile", Name, nullptr, 208, nullptr, 0, 0, false, 0, AtStart,
             "a name of the configuration's [devices]: letters, digits, - and _",
             "use this [devices] profile of the configuration"},
    LimitRow{"run_time_max", Duration, nullptr, 0, nullptr, 1'000, kMost, true, kInfinity, Live,
             "at least 1 ms (1000 microseconds)", "stop the job after this time: 2h 30min"},
    LimitRow{"run_time_grace", Duration, nullptr, 0, nullptr, 0, kHour, false, 0, Live, "0 to 1 h (3600000000 microseconds)",
             "time from the kill signal at run-time-max to SIGKILL"},
    LimitRow{"kill_signal", Signal, nullptr, 0, nullptr, 1, 64, false, 15, Live, "1 to 64",
             "the first signal of a stop (default: TERM)"},
    LimitRow{"kill_grace", Duration, nullptr, 0, nullptr, 0, kHour, false, 0, Live, "0 to 1 h (3600000000 microseconds)",
             "time from the kill signal to SIGKILL"},
};

constexpr std::size_t kMaxName = 64;

Result<std::uint64_t> parseNumber(std::string_view text) {
    return text == "infinity" ? Result<std::uint64_t>(kInfinity) : parseUnsigned(text);
}

Result<std::uint64_t> parseSignalNumber(std::string_view text) {
    const auto signal = parseSignal(text);
    return signal ? Result<std::uint64_t>(static_cast<std::uint64_t>(*signal)) : Result<std::uint64_t>(signal.error());
}

Result<std::uint64_t> parseAmount(LimitForm form, std::string_view text) {
    switch (form) {
    case Size:
        return parseSize(text);
    case Duration:
        return parseDuration(text);
    case Quota:
        return parseCpuQuota(text);
    case Signal:
        return parseSignalNumber(text);
    default:
        return parseNumber(text);
    }
}

bool needsNewer(const char* name, bool isSet, unsigned version) { return isSet && limitRow(name).since > version; }

} // namespace

std::span<const LimitRow> limitTable() { return kTable; }

const LimitRow* findLimit(std::string_view name) {
    const auto* const row = std::find_if(kTable.begin(), kTable.end(), [name](const auto& known) { return known.name == name; });
    return row == kTable.end() ? nullptr : row;
}

const LimitRow& limitRow(std::string_view name) {
    const auto* row = findLimit(name);
    return row ? *row : kTable.front();
}

std::string limitOption(std::string_view name) {
    std::string option = "--" + std::string(name);
    std::replace(option.begin(), option.end(), '_', '-');
    return option;
}

Result<void> setLimit(ResourceLimits& limits, std::string_view name, std::string_view text) {
    Result<void> result = Error{ErrorCode::InvalidArgument, "unknown limit '" + printable(name, 100) + "'"};
    forEachLimit(limits, [&](const char* known, auto& limit) {
        if (name != known)
            return;
        if constexpr (kIsNumber<decltype(limit)>) {
            const auto amount = parseAmount(limitRow(name).form, text);
            if (amount)
                limit = *amount;
            result = amount ? Result<void>() : Result<void>(amount.error());
        } else {
            result = setLimitText(text, limit);
        }
    });
    return result ? validate(limits) : result;
}

Result<void> setLimitText(std::string_view text, std::optional<CpuList>& limit) {
    auto list = CpuList::parse(text);
    if (!list)
        return list.error();
    limit = std::move(*list);
    return {};
}

Result<void> setLimitText(std::string_view text, std::optional<DeviceAmounts>& limit) {
    auto amounts = DeviceAmounts::parse(text);
    if (!amounts)
        return amounts.error();
    limit = std::move(*amounts);
    return {};
}

Result<void> setLimitText(std::string_view text, std::optional<std::string>& limit) {
    const auto isNameCharacter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    };
    if (text.empty() || text.size() > kMaxName || !std::all_of(text.begin(), text.end(), isNameCharacter))
        return Error{ErrorCode::InvalidArgument,
                     "name '" + printable(text, 100) + "' is not valid: use 1 to 64 letters, digits, - and _"};
    limit = std::string(text);
    return {};
}

Result<void> setLimitText(std::string_view text, std::optional<OomPolicy>& limit) {
    if (text != "job" && text != "process")
        return Error{ErrorCode::InvalidArgument, "oom_policy '" + printable(text, 100) + "' is not valid: use job or process"};
    limit = text == "job" ? OomPolicy::Job : OomPolicy::Process;
    return {};
}

std::string neededNewerSystemd(const ResourceLimits& limits, unsigned version) {
    std::string names;
    forEachLimit(limits, [&](const char* name, const auto& limit) {
        if (needsNewer(name, limit.has_value(), version))
            names += (names.empty() ? "" : ", ") + std::string(name) + " (systemd " + std::to_string(limitRow(name).since) + ")";
    });
    return names;
}

ResourceLimits withoutNewer(ResourceLimits limits, unsigned version) {
    forEachLimit(limits, [version](const char* name, auto& limit) {
        if (needsNewer(name, limit.has_value(), version))
            limit.reset();
    });
    return limits;
}

} // namespace pinfold
