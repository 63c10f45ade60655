// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold {

/// Counts durations in buckets, as a histogram of Prometheus.
class DurationHistogram {
public:
    /// kBounds contains the upper bounds of the buckets. A duration above the last bound increases only the count of the bucket
    /// "+Inf".
    static constexpr std::array<Microseconds, 12> kBounds{1ms, 2500us, 5ms, 10ms, 25ms, 50ms, 100ms, 250ms, 1s, 5s, 15s, 45s};

    void observe(Microseconds duration);
    /// Entry i of the result is the number of durations that are at most kBounds[i]. The last entry of the result is the total
    /// number of durations.
    std::array<std::uint64_t, kBounds.size() + 1> cumulative() const;
    Microseconds sum() const { return sum_; }

private:
    std::array<std::uint64_t, kBounds.size() + 1> counts_{};
    Microseconds sum_{};
};

/// Writes Prometheus' text format, version 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/#text-based-format). The metrics have no time stamps, because
/// node_exporter refuses a textfile with time stamps.
class Exposition {
public:
    using Labels = std::vector<std::pair<std::string_view, std::string>>;

    /// Begins a new metric. Call metric() once for each metric, before the calls that add the samples of the metric. The
    /// argument `type` is counter, gauge or histogram.
    void metric(std::string_view name, std::string_view type, std::string_view help);
    void sample(const Labels& labels, std::uint64_t value) { line("", labels, std::to_string(value)); }
    /// Adds a sample whose value is in millionths of the metric's unit.
    void millionths(const Labels& labels, std::uint64_t value) { seconds(labels, Microseconds(value)); }
    /// Adds a duration as a sample in seconds, because Prometheus uses seconds for times.
    void seconds(const Labels& labels, Microseconds duration);
    /// Adds a sample whose value is the difference of two times. The difference of two times can be negative, unlike the values
    /// of all other samples.
    void signedSeconds(const Labels& labels, std::chrono::microseconds duration);
    void histogram(const DurationHistogram& histogram);

    const std::string& text() const { return text_; }

private:
    void line(std::string_view suffix, const Labels& labels, const std::string& value);

    std::string name_;
    std::string text_;
};

} // namespace pinfold
