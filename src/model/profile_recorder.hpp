// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "model/profile.hpp"
#include "model/usage.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Builds the profile of a job while the job runs. From time to time, pinfoldd reads the counters of the job's cgroup, and passes
/// the counters to look(). A ProfileRecorder takes at most 8 KiB of memory.
class ProfileRecorder {
public:
    /// Adds a point to the profile for the time since the previous call of look(). The first call of look() adds a point for the
    /// time since the job's start. look() assumes that the amounts of memory and the number of tasks grow or shrink evenly
    /// between two calls. `age` is the time since the job's start. If `age` is not greater than in the previous call, look() adds
    /// no point to the profile.
    void look(Microseconds age, const Usage& usage);
    /// Adds to the profile a point for the time from the last call of look() to the job's end. After the job's end, the kernel no
    /// longer shows how much memory the job used. end() uses the amounts of memory and the number of tasks from the last call of
    /// look(). `usage` has the job's final counters.
    void end(Microseconds age, const Usage& usage);

    const Profile& profile() const { return profile_; }
    Microseconds lastLook() const {
        return last_.age;
    }                                              ///< the age of the job at the last call of look(); 0 before the first call
    std::uint64_t looks() const { return looks_; } ///< the number of calls of look(); 0 again after a restart of pinfoldd
    std::optional<std::uint64_t> need() const { return need_; }
    /// Raises the job's memory need to `bytes` if the need is lower. `bytes` is a sum of anonymous and shared memory.
    void needs(std::uint64_t bytes) { need_ = std::max(need_.value_or(0), bytes); }

    bool operator==(const ProfileRecorder&) const = default;

private:
    friend std::string encode(const std::string& job, const ProfileRecorder& recorder);
    friend Result<ProfileRecorder> decodeRecorder(const std::string& job, std::string_view text);

    /// Holds the counters and amounts that pinfoldd passed to one call of look(). A counter that the kernel does not have is 0.
    struct Reading {
        Microseconds age{};
        Microseconds cpu{};
        Microseconds memoryPressure{};
        std::uint64_t io = 0;
        std::uint64_t anon = 0;
        std::uint64_t shmem = 0;
        std::uint64_t cache = 0;
        std::uint64_t tasks = 0;

        bool operator==(const Reading&) const = default;
    };
    static Reading readingOf(Microseconds age, const Usage& usage);
    void add(const Reading& reading);

    Profile profile_;
    Reading last_;
    std::uint64_t looks_ = 0;
    std::optional<std::uint64_t> need_;
};

/// Encodes a recorder and the id `job` of the recorder's job as a JSON text. A restarted pinfoldd reads the JSON text and
/// continues the recorder's profile.
std::string encode(const std::string& job, const ProfileRecorder& recorder);
/// Reads a text that encode() has written. decodeRecorder() fails with InvalidArgument if encode() has not written the text, or
/// has written the text for a different job.
Result<ProfileRecorder> decodeRecorder(const std::string& job, std::string_view text);

} // namespace pinfold
