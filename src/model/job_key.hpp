// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the keys of jobs, and makes the names of units and of D-Bus objects from the keys. Other programs rely on the names of
// units and D-Bus objects, so a new version of pinfold must not change a name. A new version of pinfold is allowed to add new
// names of units and objects.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Returns true if `text` is a valid name of a scheduler. In a key, the name of the scheduler stands before the first dot. The
/// name of a scheduler has only lower case letters and digits.
bool isSchedulerName(std::string_view text);

/// A JobKey is the key of a job in the form "<scheduler>.<id>", for instance "sge.4711.3" or "pbs.12[7].server".
class JobKey {
public:
    /// kMaxEscaped is the greatest length of the escaped form of a key. With the limit kMaxEscaped, no unit name is longer than
    /// the 255 bytes that systemd allows.
    static constexpr std::size_t kMaxEscaped = 230;

    /// Reads a key. The error InvalidArgument says which character or length is wrong.
    static Result<JobKey> parse(std::string_view text);
    static JobKey manual(std::uint64_t number);

    const std::string& text() const { return text_; }
    std::string_view scheduler() const;
    /// Returns true if users can give the key to their own jobs. Users can choose keys of the form "user.<id>". Users can choose
    /// keys of the form "manual.<id>" if <id> is not a number. Keys of the form "manual.<number>" are reserved for pinfoldd
    /// itself.
    bool isForUsers() const;
    /// Returns the key in the escaped form for unit names. In comments, <E> means the escaped form of a key.
    const std::string& escaped() const { return escaped_; }
    std::string sliceName() const; ///< returns a name such as batch-<E>.slice
    /// Returns a name such as job-<E>.scope for task 0, and job-<E>-<n>.scope for task n.
    std::string scopeName(std::uint32_t task) const;
    std::string objectPath() const; ///< returns a path such as /org/pinfold1/job/<label>

    auto operator<=>(const JobKey& other) const { return text_ <=> other.text_; }
    bool operator==(const JobKey& other) const { return text_ == other.text_; }

private:
    JobKey(std::string text, std::string escaped) : text_(std::move(text)), escaped_(std::move(escaped)) {}

    std::string text_;
    std::string escaped_;
};

/// kBatchSlice is the name of the slice that contains all jobs.
constexpr std::string_view kBatchSlice = "batch.slice";
/// kSlicePrefix is the beginning of the name of each job's slice.
constexpr std::string_view kSlicePrefix = "batch-";

/// Says to which job and which task a unit of pinfold belongs.
struct UnitIdentity {
    JobKey key;
    std::optional<std::uint32_t> task; ///< the number of the task; unset if the unit is the job's slice
};

/// Returns {sge.4711, 1} for "job-sge.4711-1.scope", and nullopt for a unit that is not pinfold's.
std::optional<UnitIdentity> identifyUnit(std::string_view unit);

} // namespace pinfold
