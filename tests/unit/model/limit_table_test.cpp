// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/limit_table.hpp"

#include "base/parse.hpp"
#include "model/set_limit.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace pinfold {
namespace {

/// Returns limits in which only the limit `name` is set, with the value `text`.
ResourceLimits with(const char* name, const char* text) {
    ResourceLimits limits;
    const auto set = setLimit(limits, name, text);
    EXPECT_TRUE(set) << name << " " << text << ": " << (set ? "" : set.error().message);
    return limits;
}

TEST(LimitTable, hasEachNameOnce) {
    std::set<std::string> names;
    for (const auto& row : limitTable()) {
        EXPECT_TRUE(names.insert(row.name).second) << row.name;
        EXPECT_EQ(findLimit(row.name), &row);
    }
    for (const char* name : {"memory", "memory_maximum", "MEMORY_MAX", ""})
        EXPECT_EQ(findLimit(name), nullptr) << name;
}

TEST(LimitTable, givesEachMemberToItsRow) {
    auto limits = with("memory_max", "1G");
    limits.tasksMax = 7;
    std::set<std::string> set;
    forEachLimit(limits, [&set](const LimitRow& row, const auto& limit) {
        if (limit)
            set.insert(row.name);
    });
    EXPECT_EQ(set, (std::set<std::string>{"memory_max", "tasks_max"}));
}

TEST(LimitTable, hasEachPropertyOnce) {
    std::set<std::string> properties;
    for (const auto& row : limitTable()) {
        if (row.property) {
            EXPECT_TRUE(properties.insert(row.property).second) << row.property;
        }
    }
}

TEST(LimitTable, readsWhatPeopleWrite) {
    EXPECT_EQ(with("memory_max", "1.5G").memoryMax, 1536ULL << 20);
    EXPECT_EQ(with("memory_low", "0").memoryLow, 0U);
    EXPECT_EQ(with("memory_swap_max", "infinity").memorySwapMax, kInfinity);
    EXPECT_EQ(with("cpu_quota", "150%").cpuQuota, 1'500'000U);
    EXPECT_EQ(with("tasks_max", "infinity").tasksMax, kInfinity);
    EXPECT_EQ(with("run_time_max", "2h 30min").runTimeMax, 9'000'000'000U);
    EXPECT_EQ(with("kill_signal", "USR1").killSignal, 10U);
    EXPECT_EQ(with("kill_grace", "0").killGrace, 0U);
    EXPECT_EQ(with("oom_policy", "process").oomPolicy, OomPolicy::Process);
    EXPECT_EQ(with("device_profile", "gpu-2").deviceProfile, "gpu-2");
    EXPECT_EQ(with("allowed_memory_nodes", "2,0").allowedMemoryNodes->toString(), "0,2");
    EXPECT_EQ(with("io_write_iops_max", "/dev/sdb 100,/dev/sda infinity").ioWriteIopsMax->toString(),
              "/dev/sda infinity, /dev/sdb 100");
}

TEST(LimitTable, refusesTheRestByName) {
    struct Row {
        const char* name;
        const char* text;
    };
    for (const auto& row : {Row{"memory_max", "1023K"},
                            Row{"memory_max", "much"},
                            Row{"memory_high", "0"},
                            Row{"cpu_quota", "50"},
                            Row{"cpu_weight", "infinity"},
                            Row{"io_weight", "10001"},
                            Row{"kill_signal", "0"},
                            Row{"kill_signal", "65"},
                            Row{"kill_grace", "2h"},
                            Row{"kill_grace", "infinity"},
                            Row{"oom_policy", "kill"},
                            Row{"device_profile", "a/b"},
                            Row{"device_profile", ""},
                            Row{"allowed_cpus", ""},
                            Row{"io_read_iops_max", "/dev/sda 0"},
                            Row{"io_read_iops_max", "/dev/sda"},
                            Row{"io_read_iops_max", "/dev/../etc/passwd 1"},
                            Row{"io_read_iops_max", "/dev/./shm/alice/disk 1"},
                            Row{"io_read_iops_max", "/dev//shm/alice/disk 1"},
                            Row{"io_read_iops_max", "/dev/shm/alice/disk 1"},
                            Row{"io_read_iops_max", "/dev/fd/3 1"},
                            Row{"io_read_iops_max", "sda 1"},
                            Row{"io_read_iops_max", "/dev/sda 1, /dev/sda 2"},
                            Row{"io_read_iops_max", "/dev/s\nda 1"},
                            Row{"memory", "1G"}}) {
        ResourceLimits limits;
        const auto set = setLimit(limits, row.name, row.text);
        ASSERT_FALSE(set) << row.name << " " << row.text;
        EXPECT_TRUE(set.error().code == ErrorCode::InvalidArgument || set.error().code == ErrorCode::LimitInvalid);
        EXPECT_EQ(set.error().message.find('\n'), std::string::npos);
    }
}

TEST(LimitTable, namesWhatAnOldSystemdLacks) {
    auto limits = with("memory_zswap_max", "1G");
    limits.memoryMax = 1 << 20;
    EXPECT_EQ(neededNewerSystemd(limits, 252), "memory_zswap_max (systemd 253)");
    EXPECT_EQ(neededNewerSystemd(limits, 253), "");
    EXPECT_EQ(neededNewerSystemd({}, 0), "");
    auto without = limits;
    without.memoryZswapMax.reset();
    EXPECT_EQ(withoutNewer(limits, 252), without);
    EXPECT_EQ(withoutNewer(limits, 257), limits);
}

} // namespace
} // namespace pinfold
