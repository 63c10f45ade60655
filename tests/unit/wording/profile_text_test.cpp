// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/profile_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace pinfold {
namespace {

constexpr double kMebi = 1 << 20;

Profile profileOf(const std::vector<double>& mebibytes, Microseconds length = 10s) {
    Profile profile;
    for (const auto value : mebibytes) {
        ProfilePoint point{.length = length};
        point.mean[static_cast<std::size_t>(Measure::Anon)] = static_cast<float>(value * kMebi);
        point.most[static_cast<std::size_t>(Measure::Anon)] = static_cast<float>(value * kMebi);
        profile.add(point);
    }
    return profile;
}

TEST(ProfileText, eachColumnIsTheMeanOfItsTime) {
    EXPECT_EQ(valuesOf(profileOf({1, 2, 3, 4}), Curve::Memory, 4), (std::vector{1 * kMebi, 2 * kMebi, 3 * kMebi, 4 * kMebi}));
    EXPECT_EQ(valuesOf(profileOf({1, 2, 3, 4}), Curve::Memory, 2), (std::vector{1.5 * kMebi, 3.5 * kMebi}));
    EXPECT_EQ(valuesOf(profileOf({1, 2}), Curve::Memory, 4), (std::vector{1 * kMebi, 1 * kMebi, 2 * kMebi, 2 * kMebi}));
    EXPECT_EQ(valuesOf(Profile(), Curve::Memory, 2), (std::vector{0.0, 0.0}));
}

TEST(ProfileText, columnsKeepTheAreaForAnyLengths) {
    for (std::size_t points = 1; points <= 120; ++points)
        for (const std::size_t columns : {1U, 7U, 40U, 70U, 300U}) {
            std::vector<double> values(points);
            std::iota(values.begin(), values.end(), 1.0);
            const auto shown = valuesOf(profileOf(values), Curve::Memory, columns);
            const auto mean = std::accumulate(shown.begin(), shown.end(), 0.0) / static_cast<double>(columns);
            EXPECT_NEAR(mean, static_cast<double>(points + 1) / 2 * kMebi, mean * 1e-6) << points << " in " << columns;
        }
}

TEST(ProfileText, aSparklineHasABlockForEachValue) {
    EXPECT_EQ(sparkline({0, 0.01, 1, 4, 8}, 8), " ▁▁▄█");
    EXPECT_EQ(sparkline({0, 0}, 0), "  ");
}

TEST(ProfileText, anEmptyProfileHasNoText) {
    EXPECT_EQ(profileLines(Profile(), {}), "");
    EXPECT_EQ(profileCharts(Profile(), {}, {}, 80), "");
}

TEST(ProfileText, onlyCurvesWithValuesAreShown) {
    const auto text = profileLines(profileOf({5, 10}), {});
    EXPECT_EQ(text, "What the job used over 20s:\n"
                    "  memory       ▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄████████████████████ at most 10M\n");
}

TEST(ProfileText, aSmallShareOfACpuIsNotZero) {
    Profile profile;
    ProfilePoint point{.length = 10s};
    point.most[static_cast<std::size_t>(Measure::Cpu)] = point.mean[static_cast<std::size_t>(Measure::Cpu)] = 15'400;
    profile.add(point);
    EXPECT_NE(profileLines(profile, {}).find("0.015 CPUs"), std::string::npos) << profileLines(profile, {});
}

TEST(ProfileText, aNearLimitIsALineAndAFarOneOnlyANumber) {
    const auto near = profileCharts(profileOf({5, 10}), {.memory = 20 << 20, .cpus = {}, .tasks = {}}, {}, 60);
    EXPECT_NE(near.find("memory, 10M at most, limit 20M\n     20M │╌╌╌"), std::string::npos) << near;
    const auto far = profileCharts(profileOf({5, 10}), {.memory = 64ULL << 30, .cpus = {}, .tasks = {}}, {}, 60);
    EXPECT_NE(far.find("memory, 10M at most, limit 64G\n     10M │"), std::string::npos) << far;
    EXPECT_EQ(far.find("╌"), std::string::npos) << far;
}

TEST(ProfileText, theLineOfTheCpusIsAtWhatTheJobHolds) {
    Profile profile;
    ProfilePoint point{.length = 10s};
    point.most[static_cast<std::size_t>(Measure::Cpu)] = point.mean[static_cast<std::size_t>(Measure::Cpu)] = 1e6;
    profile.add(point);
    const auto text = profileCharts(profile, chartLimits({}, 2), {}, 60);
    EXPECT_NE(text.find("CPU, 1.0 CPUs at most, 2.0 CPUs held\n2.0 CPUs │╌╌╌"), std::string::npos) << text;
    EXPECT_EQ(chartLimits({.cpuQuota = 500'000}, 2).cpus, 0.5) << "the quota allows less than the slots";
}

TEST(ProfileText, linesAreAsWideAsAskedFor) {
    for (const std::size_t width : {40U, 80U, 132U}) {
        const auto text = profileCharts(profileOf({5, 10}), {}, {}, width);
        for (std::size_t start = 0; start < text.size();) {
            const auto end = text.find('\n', start);
            const auto columns =
                std::count_if(text.begin() + static_cast<std::ptrdiff_t>(start), text.begin() + static_cast<std::ptrdiff_t>(end),
                              [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
            EXPECT_LE(columns, static_cast<std::ptrdiff_t>(width)) << text;
            start = end + 1;
        }
    }
}

} // namespace
} // namespace pinfold
