// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_values/profile_dict.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace pinfold {
namespace {

using Numbers = std::vector<std::uint64_t>;

std::string meanName(Measure measure) { return std::string(toString(measure)) + "_mean"; }
std::string mostName(Measure measure) { return std::string(toString(measure)) + "_max"; }

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::llround(std::clamp(value, 0.0, 9e18))); }

/// Returns the number at the position `index` of the list. If the list ends before the position `index`, the result is 0. The
/// list of a measure can be too short or empty, because a newer pinfoldd possibly does not have this measure.
float at(const Numbers& numbers, std::size_t index) { return index < numbers.size() ? static_cast<float>(numbers[index]) : 0; }

} // namespace

Dict toDict(const Profile& profile) {
    Dict dict;
    Numbers lengths;
    for (const auto& point : profile.points())
        lengths.push_back(toUsec(point.length));
    put(dict, "lengths", lengths);
    for (const auto measure : kAllMeasures) {
        Numbers mean;
        Numbers most;
        for (const auto& point : profile.points()) {
            mean.push_back(rounded(point.meanOf(measure)));
            most.push_back(rounded(point.mostOf(measure)));
        }
        put(dict, meanName(measure).c_str(), mean);
        put(dict, mostName(measure).c_str(), most);
    }
    return dict;
}

Profile profileFrom(const Dict& dict) {
    Numbers lengths;
    take(dict, "lengths", lengths);
    std::vector<ProfilePoint> points;
    for (const auto length : lengths)
        points.push_back({.length = Microseconds(length)});
    for (const auto measure : kAllMeasures) {
        Numbers mean;
        Numbers most;
        take(dict, meanName(measure).c_str(), mean);
        take(dict, mostName(measure).c_str(), most);
        for (std::size_t i = 0; i < points.size(); ++i) {
            points[i].mean[static_cast<std::size_t>(measure)] = at(mean, i);
            points[i].most[static_cast<std::size_t>(measure)] = at(most, i);
        }
    }
    Profile profile;
    for (const auto& point : points)
        profile.add(point);
    return profile;
}

} // namespace pinfold
