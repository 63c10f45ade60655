// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/unit_properties.hpp"

#include "base/parse.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace pinfold {
namespace {

using Properties = std::vector<UnitProperty>;
using Bytes = std::vector<std::uint8_t>;
using Pids = std::vector<std::uint32_t>;
using Names = std::vector<std::string>;

JobKey key(const std::string& text) { return *JobKey::parse(text); }

ResourceLimits allLimits() {
    return {.memoryMax = 40'000'000,
            .cpuQuota = 1'500'000,
            .cpuWeight = 50,
            .allowedCpus = *CpuList::parse("0-1,9"),
            .tasksMax = 100,
            .runTimeMax = 3'600'000'000};
}

ResourceLimits only(std::optional<std::uint64_t> ResourceLimits::*limit, std::uint64_t value) {
    ResourceLimits limits;
    limits.*limit = value;
    return limits;
}

std::optional<std::string> noDevice(const std::string&) { return std::nullopt; }

std::string value(const std::vector<ExpectedCgroupValue>& values, const std::string& file) {
    for (const auto& each : values)
        if (each.file == file)
            return each.value;
    return "none";
}

/// Returns a value that every limit of the given form accepts.
const char* sampleOf(LimitForm form) {
    switch (form) {
    case LimitForm::Size:
        return "4M";
    case LimitForm::Duration:
        return "10s";
    case LimitForm::Quota:
        return "150%";
    case LimitForm::Signal:
        return "TERM";
    case LimitForm::Devices:
        return "/dev/sda 100";
    case LimitForm::Word:
        return "job";
    case LimitForm::Number:
    case LimitForm::Numbers:
    case LimitForm::Name:
        break;
    }
    return "7";
}

TEST(UnitProperties, ofAProgram) {
    const auto properties = programProperties("Script");
    const auto find = [&](const char* name) {
        return std::find_if(properties.begin(), properties.end(), [&](const auto& property) { return property.name == name; });
    };
    EXPECT_NE(find("RuntimeMaxUSec"), properties.end()) << "a script that hangs is not for ever";
    EXPECT_NE(find("CollectMode"), properties.end()) << "a script that failed leaves no unit behind";
}

TEST(UnitProperties, ofASlice) {
    EXPECT_EQ(sliceProperties(key("sge.4711"), {allLimits(), {}}), (Properties{{"Description", std::string("Batch job sge.4711")},
                                                                               {"CollectMode", std::string("inactive-or-failed")},
                                                                               {"ManagedOOMPreference", std::string("omit")},
                                                                               {"CPUAccounting", true},
                                                                               {"MemoryAccounting", true},
                                                                               {"TasksAccounting", true},
                                                                               {"IOAccounting", true},
                                                                               {"Before", Names{"pinfoldd.service"}},
                                                                               {"MemoryMax", std::uint64_t{40'000'000}},
                                                                               {"CPUQuotaPerSecUSec", std::uint64_t{1'500'000}},
                                                                               {"CPUWeight", std::uint64_t{50}},
                                                                               {"AllowedCPUs", Bytes{0b0000'0011, 0b0000'0010}},
                                                                               {"TasksMax", std::uint64_t{100}}}));
}

TEST(UnitProperties, ofTaskZeroRepeatTheLimits) {
    const auto properties = scopeProperties(key("sge.4711"), 0, {only(&ResourceLimits::memoryMax, 40'000'000), {}}, {815});
    EXPECT_EQ(properties, (Properties{{"Description", std::string("Batch job sge.4711")},
                                      {"CollectMode", std::string("inactive-or-failed")},
                                      {"ManagedOOMPreference", std::string("omit")},
                                      {"CPUAccounting", true},
                                      {"MemoryAccounting", true},
                                      {"TasksAccounting", true},
                                      {"IOAccounting", true},
                                      {"Slice", std::string("batch-sge.4711.slice")},
                                      {"After", Names{"pinfoldd.service"}},
                                      {"PIDs", Pids{815}},
                                      {"TimeoutStopUSec", std::uint64_t{30'000'000}},
                                      {"OOMPolicy", std::string("kill")},
                                      {"MemoryMax", std::uint64_t{40'000'000}}}));
}

TEST(UnitProperties, ofAFurtherTaskHaveNoLimitsOfTheirOwn) {
    const auto properties = scopeProperties(key("sge.4711"), 3, {allLimits(), {}}, {815, 816});
    EXPECT_EQ(properties.front(), (UnitProperty{"Description", std::string("Batch job sge.4711, task 3")}));
    EXPECT_NE(std::find(properties.begin(), properties.end(), UnitProperty{"PIDs", Pids{815, 816}}), properties.end());
    for (const auto& property : properties)
        EXPECT_NE(property.name, "MemoryMax");
}

TEST(UnitProperties, ofNoLimitsSetNone) {
    EXPECT_EQ(sliceProperties(key("sge.1"), {}).size(), 8U);
    // The slice has no property for the time limit, because pinfoldd must be able to change the time limit. Nobody can change the
    // RuntimeMaxUSec of a running scope.
    EXPECT_EQ(sliceProperties(key("sge.1"), {only(&ResourceLimits::runTimeMax, 1'000'000), {}}),
              sliceProperties(key("sge.1"), {}));
}

// No key can add a property whose name is missing in `allowed`. The text of a property must fit into exactly one line of a unit
// file.
TEST(UnitProperties, staySafeWhateverTheKey) {
    const std::set<std::string> allowed{
        "Description", "CollectMode",        "CPUAccounting", "MemoryAccounting",     "TasksAccounting", "IOAccounting",
        "MemoryMax",   "CPUQuotaPerSecUSec", "CPUWeight",     "AllowedCPUs",          "TasksMax",        "Slice",
        "PIDs",        "TimeoutStopUSec",    "OOMPolicy",     "ManagedOOMPreference", "Before",          "After"};
    std::vector<std::string> keys;
    for (char c = 0x21; c < 0x7f; ++c)
        if (c != '/')
            for (const std::size_t before : {0, 1, 91, 92, 93, 94, 95, 96, 97, 98, 99, 150})
                keys.push_back("odd." + std::string(before, 'x') + c + std::string(20, 'y'));
    for (const auto& text : keys) {
        auto properties = scopeProperties(key(text), UINT32_MAX, {allLimits(), {}}, {815});
        for (const auto& list :
             {sliceProperties(key(text), {allLimits(), {}}), scopeProperties(key(text), 0, {allLimits(), {}}, {815})})
            properties.insert(properties.end(), list.begin(), list.end());
        for (const auto& property : properties) {
            EXPECT_TRUE(allowed.contains(property.name)) << property.name;
            const auto* words = std::get_if<std::string>(&property.value);
            if (!words)
                continue;
            EXPECT_TRUE(std::all_of(words->begin(), words->end(), [](char c) { return c >= 0x20 && c < 0x7f; })) << *words;
            if (property.name != "Description")
                continue;
            EXPECT_LE(words->size(), 128U) << text;
            EXPECT_EQ(words->find('%'), std::string::npos) << "a specifier";
            const auto escape = words->rfind('\\');
            EXPECT_TRUE(escape == std::string::npos || escape + 4 <= words->size()) << "an escape is torn: " << *words;
        }
    }
}

TEST(UnitProperties, areNamedOnce) {
    std::set<std::string> names;
    for (const auto& property : scopeProperties(key("sge.1"), 0, {allLimits(), {}}, {815}))
        EXPECT_TRUE(names.insert(property.name).second) << property.name;
}

TEST(ExpectedCgroupValues, areAsTheKernelShowsThem) {
    const auto values = expectedCgroupValues(allLimits(), 4096, noDevice);
    EXPECT_EQ(values.size(), 5U) << "the run time is no cgroup's business";
    EXPECT_EQ(value(values, "memory.max"), "39997440") << "rounded down to pages";
    EXPECT_EQ(value(values, "cpu.max"), "150000 100000");
    EXPECT_EQ(value(values, "cpu.weight"), "50");
    EXPECT_EQ(value(values, "cpuset.cpus"), "0-1,9");
    EXPECT_EQ(value(values, "pids.max"), "100");
    EXPECT_EQ(value(expectedCgroupValues(allLimits(), 65536, noDevice), "memory.max"), "39976960");
}

TEST(ExpectedCgroupValues, ofInfinityAreTheWordMax) {
    auto limits = only(&ResourceLimits::memoryMax, kInfinity);
    limits.cpuQuota = limits.tasksMax = kInfinity;
    const auto values = expectedCgroupValues(limits, 4096, noDevice);
    EXPECT_EQ(value(values, "memory.max"), "max");
    EXPECT_EQ(value(values, "cpu.max"), "max 100000");
    EXPECT_EQ(value(values, "pids.max"), "max");
}

std::map<std::string, UnitProperty::Value> byName(const TaskProperties& job) {
    std::map<std::string, UnitProperty::Value> properties;
    for (const auto& property : sliceProperties(key("sge.1"), job))
        properties[property.name] = property.value;
    return properties;
}

// The expected types and names are from systemd.resource-control(5) and org.freedesktop.systemd1(5) of systemd 252 and 257.
TEST(UnitProperties, areTypedAsSystemdTakesThem) {
    ResourceLimits limits;
    for (const auto& [name, text] :
         {std::pair("memory_max", "2M"), std::pair("memory_high", "3M"), std::pair("memory_low", "4"),
          std::pair("memory_swap_max", "0"), std::pair("memory_zswap_max", "6"), std::pair("io_weight", "7"),
          std::pair("allowed_memory_nodes", "1"), std::pair("io_read_bandwidth_max", "/dev/sda 10, /dev/sdb infinity"),
          std::pair("io_write_bandwidth_max", "/dev/sda 11"), std::pair("io_read_iops_max", "/dev/sda 12"),
          std::pair("io_write_iops_max", "/dev/sda 13"), std::pair("kill_grace", "5s"), std::pair("oom_policy", "process")})
        ASSERT_TRUE(setLimit(limits, name, text)) << name;
    const auto properties = byName({limits, DeviceRules{{"/dev/fuse", "rw"}, {"char-pts", "rwm"}}});
    using Value = UnitProperty::Value;
    using Amounts = UnitProperty::DeviceAmounts;
    const std::map<std::string, Value> expected{
        {"MemoryMax", std::uint64_t{2 << 20}},
        {"MemoryHigh", std::uint64_t{3 << 20}},
        {"MemoryLow", std::uint64_t{4}},
        {"MemorySwapMax", std::uint64_t{0}},
        {"MemoryZSwapMax", std::uint64_t{6}},
        {"IOWeight", std::uint64_t{7}},
        {"AllowedMemoryNodes", Bytes{2}},
        {"IOReadBandwidthMax", Amounts{{"/dev/sda", 10}, {"/dev/sdb", kInfinity}}},
        {"IOWriteBandwidthMax", Amounts{{"/dev/sda", 11}}},
        {"IOReadIOPSMax", Amounts{{"/dev/sda", 12}}},
        {"IOWriteIOPSMax", Amounts{{"/dev/sda", 13}}},
        {"DevicePolicy", std::string("closed")},
        {"DeviceAllow", UnitProperty::DeviceRules{{"/dev/fuse", "rw"}, {"char-pts", "rwm"}}},
    };
    for (const auto& [name, value] : expected)
        EXPECT_TRUE(properties.contains(name) && properties.at(name) == value) << name;
    EXPECT_EQ(properties.size(), expected.size() + 8) << "and what every slice has";
}

TEST(UnitProperties, leaveDevicesAloneWithoutAProfile) {
    EXPECT_FALSE(byName({}).contains("DevicePolicy"));
    EXPECT_EQ(byName({{}, DeviceRules{}}).at("DevicePolicy"), UnitProperty::Value(std::string("closed")));
}

TEST(UnitProperties, sayWhatIsKilledForMemory) {
    ResourceLimits limits;
    limits.oomPolicy = OomPolicy::Process;
    const auto policy = [](const TaskProperties& job) {
        for (const auto& property : scopeProperties(key("sge.1"), 0, job, {815}))
            if (property.name == "OOMPolicy")
                return std::get<std::string>(property.value);
        return std::string();
    };
    EXPECT_EQ(policy({limits, {}}), "continue");
    EXPECT_EQ(policy({}), "kill");
}

TEST(ExpectedCgroupValues, ofDevicesAreWordsOfTheDevicesLine) {
    ResourceLimits limits;
    ASSERT_TRUE(setLimit(limits, "io_read_bandwidth_max", "/dev/sda 1M, /dev/sdb infinity"));
    const auto values =
        expectedCgroupValues(limits, 4096, [](const std::string& path) { return path == "/dev/sda" ? "8:0" : "8:16"; });
    const auto hold = [&values](const char* text) {
        return std::all_of(values.begin(), values.end(), [text](const auto& expected) {
            return expected.holds([text](const char*) { return std::optional<std::string>(text); });
        });
    };
    EXPECT_TRUE(hold("8:0 rbps=1048576 wbps=max riops=max wiops=max"));
    EXPECT_TRUE(hold("8:16 rbps=max wbps=7 riops=max wiops=max\n8:0 rbps=1048576 wbps=max riops=max wiops=max"));
    EXPECT_FALSE(hold("8:0 rbps=10485760 wbps=max riops=max wiops=max")) << "another number that begins the same";
    EXPECT_FALSE(hold("18:0 rbps=1048576 wbps=max riops=max wiops=max")) << "another device";
    EXPECT_FALSE(hold("8:0 rbps=1048576 wbps=max riops=max wiops=max\n8:16 rbps=5 wbps=max riops=max wiops=max"));
    EXPECT_FALSE(hold(""));
}

TEST(ExpectedCgroupValues, ofAnIoWeightAreEitherSchedulers) {
    const auto values = expectedCgroupValues(only(&ResourceLimits::ioWeight, 1090), 4096, noDevice);
    ASSERT_EQ(values.size(), 1U);
    const auto holds = [&values](std::optional<std::string> io, std::optional<std::string> bfq) {
        return values[0].holds([&](const char* file) { return std::string_view(file) == "io.weight" ? io : bfq; });
    };
    EXPECT_TRUE(holds("default 1090", std::nullopt));
    EXPECT_FALSE(holds("default 100", "190"));
    EXPECT_TRUE(holds(std::nullopt, "190"));
    EXPECT_FALSE(holds(std::nullopt, "100"));
    EXPECT_FALSE(holds(std::nullopt, std::nullopt));
}

// If the kernel lacks the cgroup's file for a property, systemd still accepts the property without an error. If pinfoldd did not
// read the cgroup's file, nobody would notice that the limit is missing.
TEST(ExpectedCgroupValues, existForEachLimitThatTheKernelEnforces) {
    for (const auto& row : limitTable()) {
        const bool byKernel = row.property != nullptr;
        if (byKernel) {
            ASSERT_TRUE(row.controller) << row.name << " is a cgroup's business, so it has a controller";
            EXPECT_GT(row.since, 0U) << row.name << " is not for every systemd";
        }
        ResourceLimits limits;
        ASSERT_TRUE(setLimit(limits, row.name, sampleOf(row.form))) << row.name;
        const auto values = expectedCgroupValues(limits, 4096, [](const std::string&) { return "8:0"; });
        EXPECT_EQ(values.size(), byKernel ? 1U : 0U) << row.name << " is not read back";
        for (const auto& expected : values) {
            EXPECT_STREQ(expected.limit, row.name);
            EXPECT_TRUE(std::string_view(expected.file).starts_with(row.controller)) << row.name << " in " << expected.file;
        }
    }
}

TEST(ExpectedCgroupValues, ofNoLimitsAreNone) { EXPECT_TRUE(expectedCgroupValues({}, 4096, noDevice).empty()); }

TEST(ExpectedCgroupValues, ofASmallQuotaHaveALongerPeriod) {
    const auto cpuMax = [](std::uint64_t quota) {
        return value(expectedCgroupValues(only(&ResourceLimits::cpuQuota, quota), 4096, noDevice), "cpu.max");
    };
    EXPECT_EQ(cpuMax(1'000'000), "100000 100000");
    EXPECT_EQ(cpuMax(10'000), "1000 100000") << "the kernel's least quota, in the usual period";
    EXPECT_EQ(cpuMax(9'000), "1000 111111"); // systemd rounds 0.999999 ms up to the shortest period
    EXPECT_EQ(cpuMax(1'000), "1000 1000000") << "the kernel's longest period";
    EXPECT_EQ(cpuMax(500), "1000 1000000") << "no less than the kernel's least";
}

} // namespace
} // namespace pinfold
