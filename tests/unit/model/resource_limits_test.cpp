// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/resource_limits.hpp"

#include "base/parse.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

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

template <class T> void change(bool, std::optional<T>&, std::uint64_t, const char*) {}

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
        const auto shown = value == kInfinity ? "infinity" : std::to_string(value);
        EXPECT_NE(result.error().message.find(shown), std::string::npos) << result.error().message;
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

/// Returns the device number on a node with two disks.
std::optional<std::string> numberOf(const std::string& path) {
    if (path.starts_with("/dev/sda") || path == "/dev/block/8:0" || path == "/dev/dm-0")
        return "8:0";
    return path == "/dev/sdb" ? std::optional<std::string>("8:16") : std::nullopt;
}

const char* looser(const ResourceLimits& limits, const ResourceLimits& ceiling) { return looserThan(limits, ceiling, numberOf); }

TEST(Limits, looserIsFoundForEachLimit) {
    EXPECT_EQ(looser(someLimits(), someLimits()), nullptr);
    EXPECT_EQ(looser(someLimits(), {}), nullptr);
    EXPECT_EQ(looser({}, {}), nullptr);
    for (const std::string_view wanted : {"memory_max", "cpu_quota", "allowed_cpus", "tasks_max", "run_time_max"}) {
        auto unset = someLimits();
        auto higher = someLimits();
        auto lower = someLimits();
        forEachLimit(unset, [&](const LimitRow& row, auto& limit) {
            if (row.name == wanted)
                limit.reset();
        });
        forEachLimit(higher, [&](const LimitRow& row, auto& limit) { change(wanted == row.name, limit, kInfinity, "0-4"); });
        forEachLimit(lower, [&](const LimitRow& row, auto& limit) { change(wanted == row.name, limit, 1, "1-2"); });
        EXPECT_STREQ(looser(unset, someLimits()), wanted.data());
        EXPECT_STREQ(looser(higher, someLimits()), wanted.data());
        EXPECT_EQ(looser(lower, someLimits()), nullptr) << wanted;
    }
}

TEST(Limits, whatTakesFromOthersIsLooserToo) {
    struct Row {
        const char* name;
        const char* tight;
        const char* loose;
        bool unsetIsLooser; ///< true if an unset limit is looser than the limit `tight`
    };
    for (const auto& row :
         {Row{"memory_low", "1M", "2M", false}, Row{"cpu_weight", "100", "101", false}, Row{"cpu_weight", "50", "51", true},
          Row{"io_weight", "10", "20", true}, Row{"memory_swap_max", "0", "1", true}, Row{"kill_grace", "1s", "2s", false},
          Row{"run_time_grace", "1s", "2s", false}, Row{"device_profile", "none", "gpu", true},
          Row{"io_read_bandwidth_max", "/dev/sda 1M", "/dev/sda 2M", true},
          Row{"io_read_bandwidth_max", "/dev/sda 1M", "/dev/sdb 1M", true}, Row{"allowed_memory_nodes", "0", "0-1", true}}) {
        ResourceLimits tight;
        ResourceLimits loose;
        ASSERT_TRUE(setLimit(tight, row.name, row.tight)) << row.name;
        ASSERT_TRUE(setLimit(loose, row.name, row.loose)) << row.name;
        EXPECT_STREQ(looser(loose, tight), row.name) << row.loose;
        EXPECT_EQ(looser(tight, tight), nullptr) << row.name;
        EXPECT_EQ(looser({}, tight) != nullptr, row.unsetIsLooser) << row.name;
    }
}

TEST(Limits, aSecondNameOfADiskIsNoWayAroundItsLimit) {
    const auto io = [](const char* amounts) {
        ResourceLimits limits;
        EXPECT_TRUE(setLimit(limits, "io_read_bandwidth_max", amounts));
        return limits;
    };
    const auto ceiling = io("/dev/sda 1M");
    for (const char* other : {"/dev/sda1", "/dev/block/8:0", "/dev/dm-0"}) {
        EXPECT_STREQ(looser(io((std::string("/dev/sda 1M, ") + other + " infinity").c_str()), ceiling), "io_read_bandwidth_max");
        EXPECT_EQ(looser(io((std::string(other) + " 1M").c_str()), ceiling), nullptr) << other;
    }
    EXPECT_EQ(looser(io("/dev/sda 1M, /dev/sdb infinity"), ceiling), nullptr);
    EXPECT_EQ(looser(io("/dev/sda 1M, /dev/sda1 2M"), io("/dev/sda 1M, /dev/sda1 2M")), nullptr);
    EXPECT_STREQ(looser(io("/dev/gone 2M"), io("/dev/gone 1M")), "io_read_bandwidth_max");
}

TEST(Limits, howAJobIsKilledIsItsOwnersChoice) {
    ResourceLimits limits;
    limits.killSignal = 12;
    limits.oomPolicy = OomPolicy::Process;
    EXPECT_EQ(looser(limits, {}), nullptr);
}

} // namespace
} // namespace pinfold
