// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/resource_limits.hpp"

#include "base/parse.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pinfold {
namespace {

CpuList cpus(std::string_view text) { return *CpuList::parse(text); }

ResourceLimits someLimits() {
    return {.memoryMax = 4ULL << 30,
            .cpuQuota = 2'000'000,
            .cpuWeight = 100,
            .allowedCpus = cpus("0-3"),
            .tasksMax = 100,
            .runTimeMax = 3'600'000'000};
}

void change(bool wanted, std::optional<std::uint64_t>& limit, std::uint64_t number, const char*) {
    if (wanted)
        limit = number;
}

void change(bool wanted, std::optional<CpuList>& limit, std::uint64_t, const char* list) {
    if (wanted)
        limit = cpus(list);
}

TEST(Limits, acceptedUpToTheirEdges) {
    EXPECT_TRUE(validate({}));
    EXPECT_TRUE(validate(someLimits()));
    const ResourceLimits least{
        .memoryMax = 1 << 20, .cpuQuota = 10'000, .cpuWeight = 1, .allowedCpus = cpus("0"), .tasksMax = 1, .runTimeMax = 1'000};
    EXPECT_TRUE(validate(least));
    EXPECT_TRUE(validate({.memoryMax = kInfinity,
                          .cpuQuota = kInfinity,
                          .cpuWeight = 10'000,
                          .allowedCpus = {},
                          .tasksMax = kInfinity,
                          .runTimeMax = kInfinity}));
}

TEST(Limits, refusedBeyondTheirEdges) {
    struct Row {
        const char* name;
        std::optional<std::uint64_t> ResourceLimits::*member;
        std::uint64_t value;
    };
    for (const auto& [name, member, value] :
         {Row{"memory_max", &ResourceLimits::memoryMax, (1 << 20) - 1}, Row{"memory_max", &ResourceLimits::memoryMax, 0},
          Row{"cpu_quota", &ResourceLimits::cpuQuota, 9'999}, Row{"cpu_weight", &ResourceLimits::cpuWeight, 0},
          Row{"cpu_weight", &ResourceLimits::cpuWeight, 10'001}, Row{"cpu_weight", &ResourceLimits::cpuWeight, kInfinity},
          Row{"tasks_max", &ResourceLimits::tasksMax, 0}, Row{"run_time_max", &ResourceLimits::runTimeMax, 999}}) {
        auto limits = someLimits();
        limits.*member = value;
        const auto result = validate(limits);
        ASSERT_FALSE(result) << name << " " << value;
        EXPECT_EQ(result.error().code, ErrorCode::LimitInvalid);
        EXPECT_NE(result.error().message.find(name), std::string::npos) << result.error().message;
        EXPECT_NE(result.error().message.find(std::to_string(value)), std::string::npos) << result.error().message;
    }
}

TEST(Limits, defaultsFillOnlyWhatIsUnset) {
    EXPECT_EQ(withDefaults({}, someLimits()), someLimits());
    EXPECT_EQ(withDefaults(someLimits(), {}), someLimits());
    ResourceLimits unlimitedMemory;
    unlimitedMemory.memoryMax = kInfinity;
    const auto infinite = withDefaults(unlimitedMemory, someLimits());
    EXPECT_EQ(infinite.memoryMax, kInfinity);
    EXPECT_EQ(infinite.allowedCpus, cpus("0-3"));
    EXPECT_EQ(infinite.runTimeMax, someLimits().runTimeMax);
}

TEST(Limits, looserIsFoundForEachLimit) {
    EXPECT_EQ(looserThan(someLimits(), someLimits()), nullptr);
    EXPECT_EQ(looserThan(someLimits(), {}), nullptr);
    EXPECT_EQ(looserThan({}, {}), nullptr);
    for (const std::string_view wanted : {"memory_max", "cpu_quota", "cpu_weight", "allowed_cpus", "tasks_max", "run_time_max"}) {
        auto unset = someLimits();
        auto higher = someLimits();
        auto lower = someLimits();
        forEachLimit(unset, [&](const char* name, auto& limit) {
            if (name == wanted)
                limit.reset();
        });
        forEachLimit(higher, [&](const char* name, auto& limit) { change(wanted == name, limit, kInfinity, "0-4"); });
        forEachLimit(lower, [&](const char* name, auto& limit) { change(wanted == name, limit, 1, "1-2"); });
        EXPECT_STREQ(looserThan(unset, someLimits()), wanted.data());
        EXPECT_STREQ(looserThan(higher, someLimits()), wanted.data());
        EXPECT_EQ(looserThan(lower, someLimits()), nullptr) << wanted;
    }
}

} // namespace
} // namespace pinfold
