// SPDX-License-Identifier: LGPL-2.1-or-later
// Holds what a job used over time. The number of points in a profile is limited.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Lists the kinds of figures in a profile.
enum class Measure {
    Anon,           ///< anonymous memory, in bytes
    Shmem,          ///< shared memory and tmpfs, in bytes
    Cache,          ///< page cache without shared memory, in bytes
    Cpu,            ///< CPU time in microseconds per second, so 1,000,000 is one busy CPU
    Io,             ///< the rate at which the job read from disks and wrote to disks, in bytes per second
    Tasks,          ///< processes and threads
    MemoryPressure, ///< the time in which at least one process waited for memory, in microseconds per second
};
constexpr std::size_t kMeasures = 7;

/// Returns the name of the measure in D-Bus and JSON, such as "anon".
std::string_view toString(Measure measure);
constexpr std::array<Measure, kMeasures> kAllMeasures{Measure::Anon, Measure::Shmem, Measure::Cache,         Measure::Cpu,
                                                      Measure::Io,   Measure::Tasks, Measure::MemoryPressure};

/// A job's profile consists of points. Each point holds the mean and the maximum of each measure over one part of the job's run
/// time.
struct ProfilePoint {
    Microseconds length{};
    /// The mean of each measure. A float is exact enough for a mean, and takes half as much memory as a
    /// double.
    std::array<float, kMeasures> mean{};
    std::array<float, kMeasures> most{};

    double meanOf(Measure measure) const { return mean[static_cast<std::size_t>(measure)]; }
    double mostOf(Measure measure) const { return most[static_cast<std::size_t>(measure)]; }
    bool operator==(const ProfilePoint&) const = default;
};

/// Holds the points of a job's profile in the order of time. The points begin at the job's start, and have no gaps. If there are
/// too many points, Profile merges neighbouring points. Because Profile merges points, the profile of a long job takes no more
/// room than the profile of a short job. Merging points changes neither the maximum of a measure nor the sum of a measure over
/// time.
class Profile {
public:
    static constexpr std::size_t kMostPoints = 120;
    static constexpr std::size_t kMostBytes = 3072; ///< the maximum length of the result of encode()

    void add(const ProfilePoint& point);
    const std::vector<ProfilePoint>& points() const { return points_; }
    bool empty() const { return points_.empty(); }
    /// Returns the sum of the lengths of all points.
    Microseconds length() const;
    /// Returns the mean of the measure over the whole time of the profile, or 0 for an empty profile.
    double meanOf(Measure measure) const;
    /// Returns the maximum of the measure over the whole time of the profile, or 0 for an empty profile.
    double mostOf(Measure measure) const;

    bool operator==(const Profile&) const = default;

private:
    friend std::string encode(const Profile& profile);
    friend Result<Profile> decodeProfile(std::string_view bytes);
    void halve();

    std::vector<ProfilePoint> points_;
    /// The time that a point of the profile usually covers; 0 until Profile merges points for the first time.
    Microseconds step_{};
};

/// Encodes the profile in at most Profile::kMostBytes bytes. encode() changes each measure by at most 0.6 %, and rounds the
/// length of each point to whole milliseconds.
std::string encode(const Profile& profile);
/// Reads bytes that encode() has written. Fails with InvalidArgument if encode() has not written the bytes.
Result<Profile> decodeProfile(std::string_view bytes);

} // namespace pinfold
