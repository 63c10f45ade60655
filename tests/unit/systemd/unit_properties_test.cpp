// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/unit_properties.hpp"

#include "base/parse.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>

namespace pinfold {
namespace {

using Properties = std::vector<UnitProperty>;
using Bytes = std::vector<std::uint8_t>;
using Pids = std::vector<std::uint32_t>;

JobKey key(const std::string& text) { return *JobKey::parse(text); }

ResourceLimits allLimits() {
    return {.memoryMax = 40'000'000,
            .cpuQuota = 1'500'000,
            .cpuWeight = 50,
            .allowedCpus = *CpuList::parse("0-1,9"),
            .tasksMax = 100,
            .runTimeMax = 3'600'000'000};
}

/// That limit and no other.
ResourceLimits only(std::optional<std::uint64_t> ResourceLimits::*limit, std::uint64_t value) {
    ResourceLimits limits;
    limits.*limit = value;
    return limits;
}

std::string value(const std::vector<ExpectedCgroupValue>& values, const std::string& file) {
    for (const auto& each : values)
        if (each.file == file)
            return each.value;
    return "none";
}

TEST(UnitProperties, ofASlice) {
    EXPECT_EQ(sliceProperties(key("sge.4711"), allLimits()), (Properties{{"Description", std::string("Batch job sge.4711")},
                                                                         {"CollectMode", std::string("inactive-or-failed")},
                                                                         {"CPUAccounting", true},
                                                                         {"MemoryAccounting", true},
                                                                         {"TasksAccounting", true},
                                                                         {"IOAccounting", true},
                                                                         {"MemoryMax", std::uint64_t{40'000'000}},
                                                                         {"CPUQuotaPerSecUSec", std::uint64_t{1'500'000}},
                                                                         {"CPUWeight", std::uint64_t{50}},
                                                                         {"AllowedCPUs", Bytes{0b0000'0011, 0b0000'0010}},
                                                                         {"TasksMax", std::uint64_t{100}}}));
}

TEST(UnitProperties, ofTaskZeroRepeatTheLimits) {
    const auto properties = scopeProperties(key("sge.4711"), 0, only(&ResourceLimits::memoryMax, 40'000'000), {815});
    EXPECT_EQ(properties, (Properties{{"Description", std::string("Batch job sge.4711")},
                                      {"CollectMode", std::string("inactive-or-failed")},
                                      {"CPUAccounting", true},
                                      {"MemoryAccounting", true},
                                      {"TasksAccounting", true},
                                      {"IOAccounting", true},
                                      {"Slice", std::string("batch-sge.4711.slice")},
                                      {"PIDs", Pids{815}},
                                      {"TimeoutStopUSec", std::uint64_t{30'000'000}},
                                      {"OOMPolicy", std::string("kill")},
                                      {"MemoryMax", std::uint64_t{40'000'000}}}));
}

TEST(UnitProperties, ofAFurtherTaskHaveNoLimitsOfTheirOwn) {
    const auto properties = scopeProperties(key("sge.4711"), 3, allLimits(), {815, 816});
    EXPECT_EQ(properties.front(), (UnitProperty{"Description", std::string("Batch job sge.4711, task 3")}));
    EXPECT_NE(std::find(properties.begin(), properties.end(), UnitProperty{"PIDs", Pids{815, 816}}), properties.end());
    for (const auto& property : properties)
        EXPECT_NE(property.name, "MemoryMax");
}

TEST(UnitProperties, ofNoLimitsSetNone) {
    EXPECT_EQ(sliceProperties(key("sge.1"), {}).size(), 6U);
    // The time limit must stay changeable, which RuntimeMaxUSec of a running scope is not.
    EXPECT_EQ(sliceProperties(key("sge.1"), only(&ResourceLimits::runTimeMax, 1'000'000)), sliceProperties(key("sge.1"), {}));
}

// Whatever a key holds: only names of the allow-list, each once, and text that can't become a line of a unit file of its own,
// nor swallow the next one.
TEST(UnitProperties, staySafeWhateverTheKey) {
    const std::set<std::string> allowed{
        "Description", "CollectMode",        "CPUAccounting", "MemoryAccounting", "TasksAccounting", "IOAccounting",
        "MemoryMax",   "CPUQuotaPerSecUSec", "CPUWeight",     "AllowedCPUs",      "TasksMax",        "Slice",
        "PIDs",        "TimeoutStopUSec",    "OOMPolicy"};
    std::vector<std::string> keys;
    for (char c = 0x21; c < 0x7f; ++c)
        if (c != '/')
            for (const std::size_t before : {0, 1, 91, 92, 93, 94, 95, 96, 97, 98, 99, 150})
                keys.push_back("odd." + std::string(before, 'x') + c + std::string(20, 'y'));
    for (const auto& text : keys) {
        auto properties = scopeProperties(key(text), UINT32_MAX, allLimits(), {815});
        for (const auto& list : {sliceProperties(key(text), allLimits()), scopeProperties(key(text), 0, allLimits(), {815})})
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
    for (const auto& property : scopeProperties(key("sge.1"), 0, allLimits(), {815}))
        EXPECT_TRUE(names.insert(property.name).second) << property.name;
}

TEST(ExpectedCgroupValues, areAsTheKernelShowsThem) {
    const auto values = expectedCgroupValues(allLimits(), 4096);
    EXPECT_EQ(values.size(), 5U) << "the run time is no cgroup's business";
    EXPECT_EQ(value(values, "memory.max"), "39997440") << "rounded down to pages";
    EXPECT_EQ(value(values, "cpu.max"), "150000 100000");
    EXPECT_EQ(value(values, "cpu.weight"), "50");
    EXPECT_EQ(value(values, "cpuset.cpus"), "0-1,9");
    EXPECT_EQ(value(values, "pids.max"), "100");
    EXPECT_EQ(value(expectedCgroupValues(allLimits(), 65536), "memory.max"), "39976960");
}

TEST(ExpectedCgroupValues, ofInfinityAreTheWordMax) {
    auto limits = only(&ResourceLimits::memoryMax, kInfinity);
    limits.cpuQuota = limits.tasksMax = kInfinity;
    const auto values = expectedCgroupValues(limits, 4096);
    EXPECT_EQ(value(values, "memory.max"), "max");
    EXPECT_EQ(value(values, "cpu.max"), "max 100000");
    EXPECT_EQ(value(values, "pids.max"), "max");
}

TEST(ExpectedCgroupValues, ofNoLimitsAreNone) { EXPECT_TRUE(expectedCgroupValues({}, 4096).empty()); }

TEST(ExpectedCgroupValues, ofASmallQuotaHaveALongerPeriod) {
    const auto cpuMax = [](std::uint64_t quota) {
        return value(expectedCgroupValues(only(&ResourceLimits::cpuQuota, quota), 4096), "cpu.max");
    };
    EXPECT_EQ(cpuMax(1'000'000), "100000 100000");
    EXPECT_EQ(cpuMax(10'000), "1000 100000") << "the kernel's least quota, in the usual period";
    EXPECT_EQ(cpuMax(9'000), "1000 111111"); // 0.999999 ms, which systemd rounds up to the least
    EXPECT_EQ(cpuMax(1'000), "1000 1000000") << "the kernel's longest period";
    EXPECT_EQ(cpuMax(500), "1000 1000000") << "no less than the kernel's least";
}

} // namespace
} // namespace pinfold
