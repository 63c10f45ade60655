// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws the histories of the jobs on the screen of `pinfold top`. A history shows what a job used over time.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "cli/top_rows.hpp"
#include "model/profile.hpp"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pinfold {

inline constexpr std::size_t kHistoryCells = 12;

/// Holds two small charts, which show how a job's memory use and CPU use changed. Each chart is a line of kHistoryCells block
/// characters. The last block character shows the newest figures that pinfoldd has read. The highest value in a chart is a full
/// block.
struct TopHistory {
    std::string memory; ///< the job's anonymous and shared memory
    std::string cpu;

    bool operator==(const TopHistory&) const = default;
};

/// Keeps the histories of jobs, so that TopHistories rarely has to ask pinfoldd for a history. pinfoldd allows an ordinary user
/// 100 calls in a second. TopHistories makes at most kMostCalls calls in a second, because other programs of the user also call
/// pinfoldd.
class TopHistories {
public:
    using Ask = std::function<Result<Profile>(const std::string& key)>;
    static constexpr std::size_t kMostCalls = 50;

    /// TopHistories calls `ask` to ask pinfoldd for the profile of a job.
    explicit TopHistories(Ask ask) : ask_(std::move(ask)) {}

    /// Returns the history of the job that `row` describes. The result is unset if pinfoldd has not looked at the job yet, or if
    /// the user is not allowed to read the profile. While TopHistories does not know the history yet, and has to wait before its
    /// next call to pinfoldd, the result is unset.
    std::optional<TopHistory> of(const TopRow& row, MonotonicTime now);
    /// Forgets the jobs that are not in `rows`.
    void keepOnly(const std::vector<TopRow>& rows);

private:
    struct Known {
        RealTime created{}; ///< when the job was created; a new job with an old job's key has a later time
        MonotonicTime askAgain{};
        std::optional<TopHistory> history = {};
    };

    bool mayAsk(MonotonicTime now);
    void ask(const TopRow& row, MonotonicTime now, Known& known);

    Ask ask_;
    std::unordered_map<std::string, Known> known_; ///< maps the key of a job to the facts about the job
    MonotonicTime second_{};                       ///< the beginning of the second in which `calls_` counts the calls
    std::size_t calls_ = 0;
    MonotonicTime pausedUntil_{}; ///< after an unanswered call, TopHistories makes no calls before this time
};

} // namespace pinfold
