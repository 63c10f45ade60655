// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/common_options.hpp"
#include "cli/json.hpp"
#include "cli/top_history.hpp"
#include "cli/top_screen.hpp"
#include "cli/top_source.hpp"
#include "cli/top_text.hpp"
#include "cli/verbs.hpp"

#include <langinfo.h>
#include <time.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

constexpr Microseconds kLeastDelay = 100ms;
constexpr Microseconds kMostDelay = 1h;
constexpr std::uint64_t kMostIterations = 1'000'000'000;

struct TopOptions {
    std::string sort = "cpu"; ///< the name of the column for sorting, one of sortNames()
    std::optional<std::string> user;
    bool batch = false;
    std::uint64_t iterations = 0; ///< the number of updates; 0 means that `pinfold top` runs until somebody ends it
    Microseconds delay = 1s;      ///< the time between two updates, from kLeastDelay to kMostDelay
};

OptionSet describe(TopOptions& options) {
    return {{.name = "--sort",
             .letter = 's',
             .value = "COLUMN",
             .help = "sort by this column (default cpu)",
             .set = into(options.sort),
             .words = sortNames()},
            userOption(options.user),
            {.name = "--batch",
             .letter = 'b',
             .help = "print plain lines (the default when the output is not a terminal)",
             .set = into(options.batch)},
            {.name = "--iterations",
             .letter = 'n',
             .value = "N",
             .help = "show the list this many times, then exit (default: no limit)",
             .set = into(options.iterations, numberFrom(1, kMostIterations))},
            {.name = "--delay",
             .letter = 'd',
             .value = "SECONDS",
             .help = "update after this many seconds, 0.1 to 3600 (default 1)",
             .set = into(options.delay, durationFrom(kLeastDelay, kMostDelay, "delay", "0.1 to 3600 seconds"))}};
}

using Clock = MonotonicClock;

std::optional<std::string> sortOfKey(char key) {
    // To sort by a column, the user presses the first letter of the column's name. The key t selects `threads`, so `time` has the
    // key T.
    for (const auto& [letter, name] : {std::pair{'c', "cpu"}, std::pair{'m', "memory"}, std::pair{'i', "io"},
                                       std::pair{'t', "threads"}, std::pair{'T', "time"}, std::pair{'k', "key"}})
        if (letter == key)
            return name;
    return std::nullopt;
}

/// Calculates when `pinfold top` has to update the list of jobs. If an update is late, the next updates are not late, but come at
/// their planned times.
class Pace {
public:
    explicit Pace(Microseconds every) : every_(every) {}

    void next() { due_ = std::max(due_ + every_, Clock::now()); }
    Microseconds remaining() const { return timeBetween(Clock::now(), due_); }

private:
    Microseconds every_;
    Clock::time_point due_ = Clock::now();
};

void sleepFor(Microseconds time) {
    const auto spec = toTimespec(time);
    ::nanosleep(&spec, nullptr);
}

ExitStatus batch(const VerbContext& context, const TopOptions& options, TopSource& source, const TopStyle& style) {
    TopSample before;
    Pace pace(options.delay);
    for (std::uint64_t i = 0; i < options.iterations || options.iterations == 0; ++i) {
        if (i > 0) {
            pace.next();
            sleepFor(pace.remaining());
        }
        auto sample = source.look();
        if (!sample)
            return fail(sample.error());
        auto rows = topRows(before, *sample);
        sortRows(rows, style.sort);
        const auto text =
            context.json ? jsonTop(rows, sample->at) : (i > 0 ? "\n" : "") + topText(rows, sample->at, source.trouble(), style);
        if (std::fputs(text.c_str(), stdout) < 0 || std::fflush(stdout) != 0)
            return fail({ErrorCode::Internal, "cannot write to the standard output"});
        before = std::move(*sample);
    }
    return ExitStatus::Ok;
}

/// Returns true if the terminal can show block characters.
bool isUtf8() { return ::nl_langinfo(CODESET) == std::string_view("UTF-8"); }

/// Shows the jobs on the screen, and handles the keys that the user presses.
class Live {
public:
    Live(TopSource& source, TopSample first, TopStyle style)
        : source_(source), sample_(std::move(first)), rows_(topRows({}, sample_)), style_(std::move(style)),
          histories_([&source](const std::string& key) { return source.profile(key); }) {
        if (isUtf8())
            historyOf_ = [this](const TopRow& row) { return histories_.of(row, Clock::now()); };
    }

    void run(const TopOptions& options) {
        Pace pace(options.delay);
        for (std::uint64_t i = 1;; ++i) {
            draw();
            pace.next();
            if (!waitForKeys(pace) || i == options.iterations)
                return;
            look();
        }
    }

private:
    /// Waits until the list has to be updated again. Returns false if the user quits.
    bool waitForKeys(const Pace& pace) {
        while (const auto key = screen_.wait(pace.remaining())) {
            if (*key == 'q')
                return false;
            if (*key == ' ')
                return true;
            if (const auto sort = sortOfKey(*key))
                style_.sort = *sort;
            draw();
        }
        return true;
    }

    void look() {
        auto sample = source_.look();
        if (!sample)
            return;
        rows_ = topRows(sample_, *sample);
        sample_ = std::move(*sample);
        histories_.keepOnly(rows_);
    }

    void draw() {
        const auto size = TopScreen::size();
        style_.width = size.width;
        style_.height = size.height;
        sortRows(rows_, style_.sort);
        screen_.show(topText(rows_, sample_.at, source_.trouble(), style_, historyOf_));
    }

    TopSource& source_;
    TopSample sample_;
    std::vector<TopRow> rows_;
    TopStyle style_;
    TopHistories histories_;
    HistoryOf historyOf_; ///< the function that returns a job's history; empty if the terminal cannot show block characters
    TopScreen screen_;
};

ExitStatus top(const VerbContext& context, const TopOptions& options) {
    std::optional<uid_t> uid;
    if (options.user) {
        const auto user = userId(*options.user);
        if (!user)
            return fail(user.error());
        uid = *user;
    }
    TopSource source(uid);
    TopStyle style{options.sort, context.output.legend, context.output.pairs, context.amounts, 0, 0};
    if (options.batch || context.json || context.output.pairs || !TopScreen::possible())
        return batch(context, options, source, style);
    // look() runs once before the switch to the alternate screen, so that the user can read the error messages of look().
    auto first = source.look();
    if (!first)
        return fail(first.error());
    Live(source, std::move(*first), std::move(style)).run(options);
    return ExitStatus::Ok;
}

} // namespace

Verb topVerb() { return makeVerb<TopOptions>("top", "show live jobs and what they use; update the list", describe, top); }

} // namespace pinfold
