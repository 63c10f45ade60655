// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/profile.hpp"
#include "model/profile_recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace pinfold {
namespace {

constexpr double kMiB = 1 << 20;

ProfilePoint point(Microseconds length, double value) {
    ProfilePoint made{.length = length};
    for (std::size_t i = 0; i < kMeasures; ++i) {
        made.mean[i] = static_cast<float>(value * static_cast<double>(i + 1));
        made.most[i] = static_cast<float>(value * static_cast<double>(i + 1) * 2);
    }
    return made;
}

void expectNear(double value, double expected, double share) { EXPECT_NEAR(value, expected, expected * share); }

TEST(Profile, mergingKeepsTheSumTheMaximumAndTheTime) {
    std::mt19937_64 random(7);
    for (const std::size_t looks : {1U, 2U, 119U, 120U, 121U, 239U, 240U, 241U, 28'800U}) {
        Profile profile;
        double area = 0;
        double most = 0;
        Microseconds time{};
        for (std::size_t i = 0; i < looks; ++i) {
            const Microseconds length = 29s + std::chrono::milliseconds(random() % 2000);
            const double value = static_cast<double>(random() % 1'000'000'000'000);
            profile.add(point(length, value));
            area += value * static_cast<double>(length.count());
            most = std::max(most, value);
            time += length;
        }
        EXPECT_LE(profile.points().size(), Profile::kMostPoints);
        EXPECT_EQ(profile.length(), time);
        expectNear(profile.mostOf(Measure::Anon), most * 2, 1e-6);
        expectNear(profile.mostOf(Measure::MemoryPressure), most * 14, 1e-6);
        expectNear(profile.meanOf(Measure::Shmem), 2 * area / static_cast<double>(time.count()), 1e-5);
    }
}

TEST(Profile, anyNumberOfLooksOfAnyLengthFitsIn) {
    std::mt19937_64 random(11);
    for (int round = 0; round < 50; ++round) {
        Profile profile;
        const auto looks = random() % 3000;
        for (std::size_t i = 0; i < looks; ++i)
            profile.add(point(Microseconds(1 + random() % 3'600'000'000), static_cast<double>(random())));
        EXPECT_LE(profile.points().size(), Profile::kMostPoints);
        EXPECT_LE(encode(profile).size(), Profile::kMostBytes);
    }
}

TEST(Profile, laterPointsOfALongJobHaveAboutTheSameLength) {
    Profile profile;
    for (int i = 0; i < 28'800; ++i) // ten days
        profile.add(point(30s, 1));
    ASSERT_GT(profile.points().size(), Profile::kMostPoints / 2 - 1);
    for (std::size_t i = 0; i + 1 < profile.points().size(); ++i)
        EXPECT_EQ(profile.points()[i].length, profile.points()[0].length);
}

TEST(Profile, comesBackWithSmallErrors) {
    Profile profile;
    std::mt19937_64 random(3);
    for (std::size_t i = 0; i < 97; ++i)
        profile.add(point(std::chrono::milliseconds(1 + random() % 100'000), static_cast<double>(random() % (1ULL << 50))));
    auto back = decodeProfile(encode(profile));
    ASSERT_TRUE(back);
    ASSERT_EQ(back->points().size(), 97U);
    for (std::size_t i = 0; i < 97; ++i) {
        EXPECT_EQ(back->points()[i].length, profile.points()[i].length);
        for (const auto measure : kAllMeasures) {
            expectNear(back->points()[i].meanOf(measure), profile.points()[i].meanOf(measure), 0.006);
            expectNear(back->points()[i].mostOf(measure), profile.points()[i].mostOf(measure), 0.006);
        }
    }
    EXPECT_EQ(encode(*back), encode(profile)) << "a second time, nothing is lost";
}

TEST(Profile, knowsItsOwnBytes) {
    Profile profile;
    profile.add(point(1s, 5));
    const auto bytes = encode(profile);
    EXPECT_TRUE(decodeProfile(bytes));
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_FALSE(decodeProfile(bytes.substr(0, length))) << length;
    EXPECT_FALSE(decodeProfile(bytes + "x"));
    auto other = bytes;
    other[0] = 2;
    EXPECT_FALSE(decodeProfile(other)) << "the form of a newer pinfold";
    other = bytes;
    other[1] = 121;
    EXPECT_FALSE(decodeProfile(other));
    EXPECT_TRUE(decodeProfile(encode(Profile())));
}

Usage using_(double anonMiB, double shmemMiB, double fileMiB, Microseconds cpu) {
    Usage usage;
    usage.memoryAnon = static_cast<std::uint64_t>(anonMiB * kMiB);
    usage.memoryShmem = static_cast<std::uint64_t>(shmemMiB * kMiB);
    usage.memoryFile = static_cast<std::uint64_t>(fileMiB * kMiB);
    usage.cpuUser = cpu;
    usage.cpuSystem = 0s;
    usage.tasksCurrent = 3;
    return usage;
}

TEST(ProfileRecorder, needIsAnonymousAndSharedMemoryAndNoPageCache) {
    ProfileRecorder recorder;
    recorder.look(1s, using_(5, 20, 900, 1s));
    recorder.look(2s, using_(10, 1, 100, 2s));
    EXPECT_EQ(recorder.need(), 25U << 20);
    expectNear(recorder.profile().mostOf(Measure::Cache), 880 * kMiB, 1e-6);
    expectNear(recorder.profile().mostOf(Measure::Anon), 10 * kMiB, 1e-6);
}

TEST(ProfileRecorder, anEvenGrowthHasItsTrueArea) {
    ProfileRecorder recorder;
    for (const int second : {1, 2, 4, 8, 16, 30, 60, 90, 100})
        recorder.look(std::chrono::seconds(second), using_(10.0 * second, 0, 0, std::chrono::seconds(second)));
    EXPECT_EQ(recorder.profile().length(), 100s);
    expectNear(recorder.profile().meanOf(Measure::Anon), 500 * kMiB, 1e-6);
    expectNear(recorder.profile().mostOf(Measure::Anon), 1000 * kMiB, 1e-6);
    expectNear(recorder.profile().meanOf(Measure::Cpu), 1e6, 1e-6);
}

TEST(ProfileRecorder, theEndHasTheFinalCountersAndTheLastMemory) {
    ProfileRecorder recorder;
    recorder.look(1s, using_(8, 0, 0, 1s));
    Usage last;
    last.cpuUser = 5s;
    last.cpuSystem = 0s;
    recorder.end(3s, last);
    ASSERT_EQ(recorder.profile().points().size(), 2U);
    const auto& end = recorder.profile().points().back();
    EXPECT_EQ(end.length, 2s);
    expectNear(end.meanOf(Measure::Cpu), 2e6, 1e-6);
    expectNear(end.meanOf(Measure::Anon), 8 * kMiB, 1e-6);
    recorder.end(3s, last);
    EXPECT_EQ(recorder.profile().points().size(), 2U) << "the same time again adds nothing";
}

TEST(ProfileRecorder, continuesAfterARestart) {
    ProfileRecorder recorder;
    recorder.look(1s, using_(8, 1, 0, 1s));
    recorder.look(2s, using_(4, 0, 7, 2s));
    auto back = decodeRecorder("id-1", encode("id-1", recorder));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(back->need(), 9U << 20);
    EXPECT_EQ(back->lastLook(), 2s);
    back->look(4s, using_(4, 0, 7, 3s));
    EXPECT_EQ(back->profile().length(), 4s);
    expectNear(back->profile().points().back().meanOf(Measure::Cpu), 5e5, 1e-6);
    EXPECT_FALSE(decodeRecorder("id-2", encode("id-1", recorder))) << "a later job with the same key";
    EXPECT_FALSE(decodeRecorder("id-1", "{}"));
    EXPECT_FALSE(decodeRecorder("id-1", R"({"job":"id-1","need":null,"age":1,"cpu":1,"memory_pressure":0,"io":0,"anon":0,)"
                                        R"("shmem":0,"cache":0,"tasks":0,"profile":"zz"})"));
}

} // namespace
} // namespace pinfold
