// SPDX-License-Identifier: LGPL-2.1-or-later
#include "adapters/grid_engine/spool_config.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace pinfold {
namespace {

TEST(GridEngineConfig, theLastValueIsTheShepherdsAndAllAreKept) {
    const auto config = GridEngineConfig::parse("job_id=1\npe_task_id=1.node1\njob_arg1=a=b\n\n=x\nno equals\nempty=\njob_id=2");
    EXPECT_EQ(config.value("job_id"), "2");
    EXPECT_EQ(config.values("job_id"), (std::vector<std::string>{"1", "2"}));
    EXPECT_EQ(config.value("job_arg1"), "a=b");
    EXPECT_EQ(config.values("empty").size(), 1U);
    EXPECT_EQ(config.value("empty"), "");
    EXPECT_TRUE(config.values("no equals").empty());
    EXPECT_EQ(config.value("binding"), "");
}

TEST(GridEngineConfig, memoryIsReadAsGridEngineWritesIt) {
    EXPECT_EQ(parseGridEngineMemory("2G"), 2ULL << 30);
    EXPECT_EQ(parseGridEngineMemory("2g"), 2'000'000'000U);
    EXPECT_EQ(parseGridEngineMemory(" 1.5M "), 3U << 19);
    EXPECT_EQ(parseGridEngineMemory("1T"), 1ULL << 40);
    EXPECT_EQ(parseGridEngineMemory("4096"), 4096U);
    EXPECT_EQ(parseGridEngineMemory("0x10K"), 16U << 10);
    EXPECT_EQ(parseGridEngineMemory("99999999999T"), (1ULL << 63) - 1024);
}

TEST(GridEngineConfig, noLimitIsNoNumber) {
    for (const char* text : {"INFINITY", "infinity", "UNDEFINED", "NONE", "", "2X", "2GB", "-1G", "nan", "inf", "G", "1e3",
                             "999999999999999999999999999999999999999"})
        EXPECT_EQ(parseGridEngineMemory(text), std::nullopt) << text;
}

} // namespace
} // namespace pinfold
