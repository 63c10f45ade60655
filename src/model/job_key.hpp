// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes keys of jobs, and the names of units and objects from the keys. Other programs rely on these names, so names may be added
// but not changed.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Returns true if the text may be the part of a key before the first dot. This part has only lower case letters and digits.
bool isSchedulerName(std::string_view text);

/// Is the key of a job: "<scheduler>.<id>", for instance "sge.4711.3" or "pbs.12[7].server".
class JobKey {
public:
    /// The escaped form of a key has at most this length, so that every unit name stays within systemd's 255 bytes.
    static constexpr std::size_t kMaxEscaped = 230;

    /// Reads a key. The error InvalidArgument says which character or length is wrong.
    static Result<JobKey> parse(std::string_view text);
    static JobKey manual(std::uint64_t number);

    const std::string& text() const { return text_; }
    std::string_view scheduler() const;
    /// Returns true if users may give this key to their own jobs. Such keys are "user.<id>", and "manual.<id>" except for the
    /// numbers that pinfoldd picks.
    bool isForUsers() const;
    /// Returns the key, escaped for unit names. The comments below call it <E>.
    const std::string& escaped() const { return escaped_; }
    std::string sliceName() const;                   ///< returns batch-<E>.slice
    std::string scopeName(std::uint32_t task) const; ///< returns job-<E>.scope for task 0, and job-<E>-<n>.scope for task n
    std::string objectPath() const;                  ///< returns /org/pinfold1/job/<label>

    auto operator<=>(const JobKey& other) const { return text_ <=> other.text_; }
    bool operator==(const JobKey& other) const { return text_ == other.text_; }

private:
    JobKey(std::string text, std::string escaped) : text_(std::move(text)), escaped_(std::move(escaped)) {}

    std::string text_;
    std::string escaped_;
};

/// Is the slice that holds all jobs.
constexpr std::string_view kBatchSlice = "batch.slice";

/// Names the job and the task to which a unit of pinfold belongs.
struct UnitIdentity {
    JobKey key;
    std::optional<std::uint32_t> task; ///< unset if the unit is the job's slice
};

/// Returns {sge.4711, 1} for "job-sge.4711-1.scope", and nullopt for a unit that is not pinfold's.
std::optional<UnitIdentity> identifyUnit(std::string_view unit);

} // namespace pinfold
