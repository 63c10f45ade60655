// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/unit_properties.hpp"

#include "base/parse.hpp"
#include "model/limit_table.hpp"

#include <algorithm>

namespace pinfold {
namespace {

// pinfoldd's own timer limits the grace period. TimeoutStopUSec limits a stop that PID 1 does on its own, at shutdown.
constexpr std::uint64_t kTimeoutStop = 30'000'000;
constexpr const char* kDaemon = "pinfoldd.service";
constexpr std::uint64_t kProgramTime = 300'000'000;
constexpr std::uint64_t kUsecPerSecond = 1'000'000;
constexpr std::uint64_t kDefaultPeriod = 100'000;
constexpr std::uint64_t kMaxPeriod = 1'000'000; // the kernel's limit, see sched-bwc.rst
constexpr std::uint64_t kMinQuota = 1'000;      // the kernel's limit, too

using Properties = std::vector<UnitProperty>;

// These return the form in which systemd takes a value.
std::uint64_t valueOf(std::uint64_t number) { return number; }
std::vector<std::uint8_t> valueOf(const CpuList& numbers) { return numbers.toBitmap(); }
UnitProperty::DeviceAmounts valueOf(const DeviceAmounts& list) { return {list.amounts.begin(), list.amounts.end()}; }
std::string valueOf(const std::string& text) { return text; }
std::string valueOf(OomPolicy policy) { return policy == OomPolicy::Job ? "kill" : "continue"; }

void appendLimits(Properties& properties, const ResourceLimits& limits) {
    forEachLimit(limits, [&properties](const char* name, const auto& limit) {
        if (limit && limitRow(name).property)
            properties.push_back({limitRow(name).property, valueOf(*limit)});
    });
}

void appendCommon(Properties& properties, std::string description) {
    // A line break here would become live unit settings after a daemon-reload. Keys cannot contain one, and they are escaped
    // here.
    properties.push_back({"Description", std::move(description)});
    // Without this, a unit that needed SIGKILL stays as failed and blocks its name.
    properties.push_back({"CollectMode", std::string("inactive-or-failed")});
    // A job may end by its own limits, by its owner or by a lack of memory on the node, but not by a guess of systemd-oomd.
    properties.push_back({"ManagedOOMPreference", std::string("omit")});
    for (const char* accounting : {"CPUAccounting", "MemoryAccounting", "TasksAccounting", "IOAccounting"})
        properties.push_back({accounting, true});
}

std::string describe(const char* what, const JobKey& key) {
    auto shown = key.escaped().substr(0, 100);
    // A cut "\\xNN" could leave a backslash at the end. After a daemon-reload the line would then continue with the next setting.
    if (const auto escape = shown.rfind('\\'); escape != std::string::npos && escape + 4 > shown.size())
        shown.resize(escape);
    return what + shown;
}

void appendDevices(Properties& properties, const std::optional<DeviceRules>& devices) {
    if (!devices)
        return;
    properties.push_back({"DevicePolicy", std::string("closed")});
    UnitProperty::DeviceRules rules;
    for (const auto& rule : *devices)
        rules.emplace_back(rule.device, rule.access);
    properties.push_back({"DeviceAllow", std::move(rules)});
}

std::string cpuMax(std::uint64_t quotaPerSecond) {
    if (quotaPerSecond == kInfinity)
        return "max " + std::to_string(kDefaultPeriod);
    // Like systemd, this takes a longer period if the quota within the usual period is below the kernel's minimum.
    auto period = kDefaultPeriod;
    if (quotaPerSecond * period / kUsecPerSecond < kMinQuota)
        period = std::min(kMaxPeriod, kMinQuota * kUsecPerSecond / quotaPerSecond);
    const auto quota = std::max(kMinQuota, quotaPerSecond * period / kUsecPerSecond);
    return std::to_string(quota) + " " + std::to_string(period);
}

std::string maxOr(std::uint64_t value) { return value == kInfinity ? "max" : std::to_string(value); }

std::string pages(std::uint64_t bytes, std::uint64_t pageSize) {
    return maxOr(bytes == kInfinity ? bytes : bytes / pageSize * pageSize);
}

/// Converts IOWeight= to io.bfq.weight like systemd (src/basic/cgroup-util.h, BFQ_WEIGHT): the result is 1 to 1000, and 100 stays
/// 100.
std::uint64_t bfqWeight(std::uint64_t weight) {
    return weight <= 100 ? 100 - (100 - weight) * 99 / 99 : 100 + (weight - 100) * 900 / 9900;
}

/// `word` begins one word of a device's line in io.max, "8:0 rbps=1048576 wbps=max riops=max wiops=max".
void expectIoMax(std::vector<ExpectedCgroupValue>& expected, const char* limit, const char* word,
                 const std::optional<DeviceAmounts>& list, const DeviceNumbers& numbers) {
    if (!list)
        return;
    for (const auto& [device, amount] : list->amounts)
        expected.push_back({limit, "io.max", word + maxOr(amount), numbers(device).value_or("no number of " + device)});
}

} // namespace

std::vector<UnitProperty> sliceProperties(const JobKey& key, const TaskProperties& job) {
    Properties properties;
    appendCommon(properties, describe("Batch job ", key));
    // At shutdown PID 1 stops units in the reverse order: the scopes, then pinfoldd, and then the slice, which keeps the counters
    // until then.
    properties.push_back({"Before", std::vector<std::string>{kDaemon}});
    appendLimits(properties, job.limits);
    appendDevices(properties, job.devices);
    return properties;
}

std::vector<UnitProperty> scopeProperties(const JobKey& key, std::uint32_t task, const TaskProperties& job,
                                          const std::vector<pid_t>& pids) {
    Properties properties;
    appendCommon(properties, describe("Batch job ", key) + (task == 0 ? "" : ", task " + std::to_string(task)));
    properties.push_back({"Slice", key.sliceName()});
    properties.push_back({"After", std::vector<std::string>{kDaemon}}); // see sliceProperties()
    properties.push_back({"PIDs", std::vector<std::uint32_t>(pids.begin(), pids.end())});
    properties.push_back({"TimeoutStopUSec", kTimeoutStop});
    // The policy is always set: with systemd's default, the kernel kills one process, and then PID 1 stops the scope.
    const auto oomPolicy = job.shepherd ? OomPolicy::Process : job.limits.oomPolicy.value_or(OomPolicy::Job);
    properties.push_back({"OOMPolicy", valueOf(oomPolicy)});
    if (task == 0) {
        appendLimits(properties, job.limits);
        appendDevices(properties, job.devices);
    }
    return properties;
}

std::vector<UnitProperty> programProperties(std::string description) {
    return {{"Description", std::move(description)},
            {"CollectMode", std::string("inactive-or-failed")},
            {"Type", std::string("exec")}, // the start job ends when the program runs or cannot run, not when the program ends
            {"RuntimeMaxUSec", kProgramTime}};
}

std::vector<UnitProperty> limitProperties(const ResourceLimits& limits) {
    Properties properties;
    appendLimits(properties, limits);
    return properties;
}

bool ExpectedCgroupValue::holds(const CgroupReader& read) const {
    const auto text = read(file);
    if (!text) // systemd disables the controller for a unit that no longer has a limit of it
        return value.starts_with("max") || (fallbackFile && read(fallbackFile) == fallbackValue);
    if (device.empty())
        return *text == value;
    // The kernel leaves out devices that have no limit.
    const auto line = ("\n" + *text).find("\n" + device + " ");
    if (line == std::string::npos)
        return value.ends_with("=max");
    const auto words = text->substr(line, text->find('\n', line) - line) + " ";
    return words.find(" " + value + " ") != std::string::npos;
}

std::vector<ExpectedCgroupValue> expectedCgroupValues(const ResourceLimits& limits, std::uint64_t pageSize,
                                                      const DeviceNumbers& numbers) {
    std::vector<ExpectedCgroupValue> expected;
    const auto expect = [&expected](const char* limit, const char* file, const auto& value, auto&& text) {
        if (value)
            expected.push_back({limit, file, text(*value)});
    };
    const auto bytes = [pageSize](std::uint64_t value) { return pages(value, pageSize); };
    const auto numbersText = [](const CpuList& list) { return list.toString(); };
    expect("memory_max", "memory.max", limits.memoryMax, bytes);
    expect("memory_high", "memory.high", limits.memoryHigh, bytes);
    expect("memory_low", "memory.low", limits.memoryLow, bytes);
    expect("memory_swap_max", "memory.swap.max", limits.memorySwapMax, bytes);
    expect("memory_zswap_max", "memory.zswap.max", limits.memoryZswapMax, bytes);
    expect("cpu_quota", "cpu.max", limits.cpuQuota, cpuMax);
    expect("cpu_weight", "cpu.weight", limits.cpuWeight, maxOr);
    expect("allowed_cpus", "cpuset.cpus", limits.allowedCpus, numbersText);
    expect("allowed_memory_nodes", "cpuset.mems", limits.allowedMemoryNodes, numbersText);
    expect("tasks_max", "pids.max", limits.tasksMax, maxOr);
    if (limits.ioWeight) // the kernel's own controller or the BFQ scheduler applies the weight
        expected.push_back({"io_weight", "io.weight", "default " + std::to_string(*limits.ioWeight), "", "io.bfq.weight",
                            std::to_string(bfqWeight(*limits.ioWeight))});
    expectIoMax(expected, "io_read_bandwidth_max", "rbps=", limits.ioReadBandwidthMax, numbers);
    expectIoMax(expected, "io_write_bandwidth_max", "wbps=", limits.ioWriteBandwidthMax, numbers);
    expectIoMax(expected, "io_read_iops_max", "riops=", limits.ioReadIopsMax, numbers);
    expectIoMax(expected, "io_write_iops_max", "wiops=", limits.ioWriteIopsMax, numbers);
    return expected;
}

} // namespace pinfold
