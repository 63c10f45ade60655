// SPDX-License-Identifier: LGPL-2.1-or-later
// Keys, and the names that are made from them. Other programs rely on these names: only add, never change.
#pragma once

#include "base/result.hpp"

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// True: the text may be the part of a key before the first dot, which has lower case letters and digits.
bool isSchedulerName(std::string_view text);

/// "<scheduler>.<id>", for instance "sge.4711.3" or "pbs.12[7].server".
class JobKey {
public:
    /// A key may have at most this length when it is escaped, so that every unit name stays within systemd's 255 bytes.
    static constexpr std::size_t kMaxEscaped = 230;

    /// Error: InvalidArgument, which says which character or length is wrong.
    static Result<JobKey> parse(std::string_view text);
    static JobKey manual(std::uint64_t number);

    const std::string& text() const { return text_; }
    std::string_view scheduler() const;
    /// True: users may give this key to jobs of their own. These keys are "user.<id>", and "manual.<id>" except for the numbers
    /// that pinfoldd picks.
    bool isForUsers() const;
    /// The key, escaped for unit names. The comments below call it <E>.
    const std::string& escaped() const { return escaped_; }
    std::string sliceName() const;                   ///< batch-<E>.slice
    std::string scopeName(std::uint32_t task) const; ///< job-<E>.scope, job-<E>-<n>.scope
    std::string objectPath() const;                  ///< /org/pinfold1/job/<label>

    auto operator<=>(const JobKey& other) const { return text_ <=> other.text_; }
    bool operator==(const JobKey& other) const { return text_ == other.text_; }

private:
    JobKey(std::string text, std::string escaped) : text_(std::move(text)), escaped_(std::move(escaped)) {}

    std::string text_;
    std::string escaped_;
};

/// The slice that holds all jobs.
constexpr std::string_view kBatchSlice = "batch.slice";

/// The job and task for which a unit of pinfold stands.
struct UnitIdentity {
    JobKey key;
    std::optional<std::uint32_t> task; ///< unset for the job's slice
};

/// "job-sge.4711-1.scope" → {sge.4711, 1}; nullopt for a unit that is not pinfold's.
std::optional<UnitIdentity> identifyUnit(std::string_view unit);

} // namespace pinfold
