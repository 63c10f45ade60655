// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that the registry refuses a job if the registry already has a job with the same key. Tests that the end of a job does not
// remove a later job with the same key.
#include "core/job.hpp"

#include <gtest/gtest.h>

namespace pinfold::test {
namespace {

JobPtr job(const char* key, const char* id) { return std::make_shared<Job>(JobRecord(id, "boot", *JobKey::parse(key))); }

TEST(Registry, neverReplacesAJob) {
    Registry registry;
    const auto first = job("sge.1", "a");
    const auto second = job("sge.1", "b");
    EXPECT_TRUE(registry.add(first));
    EXPECT_FALSE(registry.add(second));
    EXPECT_EQ(registry.find("sge.1"), first);
    EXPECT_TRUE(registry.has(*first));
    EXPECT_FALSE(registry.has(*second));
    EXPECT_FALSE(registry.add(first)) << "nor is a job added twice";
    EXPECT_EQ(registry.all().size(), 1U);
}

TEST(Registry, removesThatJobAndNoOtherWithItsKey) {
    Registry registry;
    const auto over = job("sge.1", "a");
    const auto next = job("sge.1", "b");
    ASSERT_TRUE(registry.add(over));
    registry.remove(*over);
    EXPECT_EQ(registry.find("sge.1"), nullptr);
    ASSERT_TRUE(registry.add(next)) << "the key is free again";
    registry.remove(*over);
    EXPECT_EQ(registry.find("sge.1"), next);
    registry.remove(*next);
    registry.remove(*next);
    EXPECT_TRUE(registry.all().empty());
}

TEST(Registry, keysThatBeginAlikeAreDifferentJobs) {
    Registry registry;
    const auto one = job("sge.1", "a");
    const auto eleven = job("sge.11", "b");
    ASSERT_TRUE(registry.add(one));
    ASSERT_TRUE(registry.add(eleven));
    registry.remove(*one);
    EXPECT_EQ(registry.find("sge.11"), eleven);
}

} // namespace
} // namespace pinfold::test
