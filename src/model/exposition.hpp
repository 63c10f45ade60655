// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold {

/// Counts durations in buckets, as a histogram of Prometheus.
class DurationHistogram {
public:
    /// The upper bounds of the buckets, in microseconds. A duration above the last bound counts in the bucket "+Inf".
    static constexpr std::array<std::uint64_t, 12> kBounds{1'000,   2'500,   5'000,     10'000,    25'000,     50'000,
                                                           100'000, 250'000, 1'000'000, 5'000'000, 15'000'000, 45'000'000};

    void observe(std::uint64_t usec);
    /// Entry i of the result is the number of durations that are at most kBounds[i]. The last entry is the number of all
    /// durations.
    std::array<std::uint64_t, kBounds.size() + 1> cumulative() const;
    std::uint64_t sum() const { return sum_; } ///< in microseconds

private:
    std::array<std::uint64_t, kBounds.size() + 1> counts_{};
    std::uint64_t sum_ = 0;
};

/// Writes Prometheus' text format, version 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format). The text has no time stamps, because
/// node_exporter refuses a textfile with time stamps.
class Exposition {
public:
    using Labels = std::vector<std::pair<std::string_view, std::string>>;

    /// Begins a new metric. Call metric() once for each metric, before the calls that add the samples of the metric. The
    /// argument `type` is counter, gauge or histogram.
    void metric(std::string_view name, std::string_view type, std::string_view help);
    void sample(const Labels& labels, std::uint64_t value) { line("", labels, std::to_string(value)); }
    /// Adds a sample in seconds, because Prometheus uses seconds for times.
    void seconds(const Labels& labels, std::uint64_t usec);
    void histogram(const DurationHistogram& histogram);

    const std::string& text() const { return text_; }

private:
    void line(std::string_view suffix, const Labels& labels, const std::string& value);

    std::string name_;
    std::string text_;
};

} // namespace pinfold
