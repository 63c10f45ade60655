// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_values/profile_dict.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

TEST(ProfileDict, aProfileComesBackWhole) {
    Profile profile;
    for (std::size_t i = 0; i < Profile::kMostPoints; ++i) {
        ProfilePoint point{.length = Microseconds(30'000'000 + i)};
        for (std::size_t j = 0; j < kMeasures; ++j) {
            point.mean[j] = static_cast<float>(i * 10 + j);
            point.most[j] = static_cast<float>(i * 100 + j);
        }
        profile.add(point);
    }
    EXPECT_EQ(profileFrom(toDict(profile)), profile);
    EXPECT_EQ(profileFrom(toDict(Profile())), Profile());
}

TEST(ProfileDict, aMeasureThatIsMissingIsZero) {
    Dict dict;
    put(dict, "lengths", std::vector<std::uint64_t>{7, 8});
    put(dict, "cpu_mean", std::vector<std::uint64_t>{3});
    const auto profile = profileFrom(dict);
    ASSERT_EQ(profile.points().size(), 2U);
    EXPECT_EQ(profile.points()[0].meanOf(Measure::Cpu), 3);
    EXPECT_EQ(profile.points()[1].meanOf(Measure::Cpu), 0);
    EXPECT_EQ(profile.mostOf(Measure::Anon), 0);
}

} // namespace
} // namespace pinfold
