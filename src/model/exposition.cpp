// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/exposition.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace pinfold {
namespace {

std::string escapeLabel(std::string_view value) {
    std::string escaped;
    for (const char c : value) {
        if (c == '\\' || c == '"')
            escaped += '\\';
        escaped += c == '\n' ? "\\n" : std::string(1, c);
    }
    return escaped;
}

/// Returns the number of seconds in a duration as a text, such as "0.0025" for 2500us. secondsText() ignores the locale, and
/// does not round the duration.
std::string secondsText(Microseconds duration) {
    auto fraction = std::to_string(toUsec(1s + duration % 1s)).substr(1);
    fraction.erase(fraction.find_last_not_of('0') + 1);
    return std::to_string(duration / 1s) + (fraction.empty() ? "" : "." + fraction);
}

} // namespace

void DurationHistogram::observe(Microseconds duration) {
    const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), duration) - kBounds.begin();
    ++counts_[static_cast<std::size_t>(bucket)];
    sum_ += duration;
}

std::array<std::uint64_t, DurationHistogram::kBounds.size() + 1> DurationHistogram::cumulative() const {
    auto sums = counts_;
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
    return sums;
}

void Exposition::metric(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_.append("# HELP ").append(name).append(" ").append(help).append("\n");
    text_.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void Exposition::seconds(const Labels& labels, Microseconds duration) { line("", labels, secondsText(duration)); }

void Exposition::signedSeconds(const Labels& labels, std::chrono::microseconds duration) {
    const auto size = fromUsec<Microseconds>(static_cast<std::uint64_t>(std::abs(duration.count())));
    line("", labels, (duration < 0us ? "-" : "") + secondsText(size));
}

void Exposition::histogram(const DurationHistogram& histogram) {
    const auto cumulative = histogram.cumulative();
    for (std::size_t i = 0; i < DurationHistogram::kBounds.size(); ++i)
        line("_bucket", {{"le", secondsText(DurationHistogram::kBounds[i])}}, std::to_string(cumulative[i]));
    line("_bucket", {{"le", "+Inf"}}, std::to_string(cumulative.back()));
    line("_sum", {}, secondsText(histogram.sum()));
    line("_count", {}, std::to_string(cumulative.back()));
}

void Exposition::line(std::string_view suffix, const Labels& labels, const std::string& value) {
    text_.append(name_).append(suffix);
    char before = '{';
    for (const auto& [name, text] : labels) {
        text_.append(1, before).append(name).append("=\"").append(escapeLabel(text)).append("\"");
        before = ',';
    }
    text_.append(labels.empty() ? " " : "} ").append(value).append("\n");
}

} // namespace pinfold
