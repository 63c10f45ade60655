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

/// Makes the profile of a live job from looks at the counters of the job's cgroup. A ProfileRecorder takes at most 8 KiB.
class ProfileRecorder {
public:
    /// Adds to the profile the time since the previous look. The first look adds the time since the job's start. The function
    /// look() assumes that the amounts of memory and the number of tasks grow or shrink evenly between two looks. `age` is the
    /// time since the job's start. A look that is not later than the previous look adds nothing.
    void look(Microseconds age, const Usage& usage);
    /// Adds to the profile the time from the last look to the job's end. The memory of an ended job is free already, so end()
    /// uses the amounts of memory and the number of tasks of the last look. `usage` has the job's final counters.
    void end(Microseconds age, const Usage& usage);

    const Profile& profile() const { return profile_; }
    Microseconds lastLook() const { return last_.age; } ///< the age of the job at the last look, or 0
    std::uint64_t looks() const { return looks_; }      ///< the number of looks since the job's start or pinfoldd's last restart
    std::optional<std::uint64_t> need() const { return need_; }
    /// Raises the job's memory need to `bytes` if the need is lower. `bytes` is a sum of anonymous and shared memory.
    void needs(std::uint64_t bytes) { need_ = std::max(need_.value_or(0), bytes); }

    bool operator==(const ProfileRecorder&) const = default;

private:
    friend std::string encode(const std::string& job, const ProfileRecorder& recorder);
    friend Result<ProfileRecorder> decodeRecorder(const std::string& job, std::string_view text);

    /// Holds the counters and amounts of one look. A counter that the kernel does not have is 0.
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

/// Returns the recorder of the job with the id `job` as a JSON text, so that a restarted pinfoldd can continue.
std::string encode(const std::string& job, const ProfileRecorder& recorder);
/// Reads a text that encode() has written, and fails with InvalidArgument for any other text and for the recorder of another job.
Result<ProfileRecorder> decodeRecorder(const std::string& job, std::string_view text);

} // namespace pinfold
