// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/profile_text.hpp"

#include "base/parse.hpp"
#include "wording/efficiency.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace pinfold {
namespace {

constexpr std::size_t kSparkColumns = 40;
constexpr std::size_t kCurveNameWidth = 13;
constexpr std::size_t kRows = 6; // of a chart
constexpr std::size_t kAxisWidth = 10;
constexpr std::size_t kLeastWidth = 40;
constexpr int kEighths = 8;
constexpr std::array<std::string_view, kEighths + 1> kBlocks{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::string_view kLimitMark = "╌";

struct CurveRow {
    Curve curve;
    const char* name;
    std::vector<Measure> sum; ///< the curve shows the sum of all measures in this list
};

const std::vector<CurveRow>& curves() {
    static const std::vector<CurveRow> rows{{Curve::Memory, "memory", {Measure::Anon, Measure::Shmem}},
                                            {Curve::Cache, "page cache", {Measure::Cache}},
                                            {Curve::Cpu, "CPU", {Measure::Cpu}},
                                            {Curve::Io, "disks", {Measure::Io}},
                                            {Curve::Tasks, "threads", {Measure::Tasks}},
                                            {Curve::MemoryPressure, "memory waits", {Measure::MemoryPressure}}};
    return rows;
}

const CurveRow& rowOf(Curve curve) { return curves()[static_cast<std::size_t>(curve)]; }

double meanOf(const ProfilePoint& point, Curve curve) {
    double sum = 0;
    for (const auto measure : rowOf(curve).sum)
        sum += point.meanOf(measure);
    return sum;
}

std::string decimal(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), value >= 0.0005 && value < 0.1 ? "%.3f" : value < 10 ? "%.1f" : "%.0f", value);
    return text.data();
}

std::string bytes(double value, const Amounts& amounts) { return amounts.size(static_cast<std::uint64_t>(std::llround(value))); }

/// Returns how many eighths of a block show the value. For every value above 0, eighths() returns at least 1.
int eighths(double value, double full, int most) {
    if (value <= 0 || full <= 0)
        return 0;
    return std::clamp(static_cast<int>(std::lround(value / full * most)), 1, most);
}

std::string padded(const std::string& text, std::size_t width) {
    return std::string(width - std::min(width, text.size()), ' ') + text;
}

/// Returns the chart of one curve. If a limit is far above the curve, the chart does not show the limit, because the curve would
/// look flat.
std::string chart(const Profile& profile, Curve curve, const ChartLimits& limits, const Amounts& amounts, std::size_t columns) {
    const auto values = valuesOf(profile, curve, columns);
    const auto limit = limitOf(curve, limits);
    auto top = *std::ranges::max_element(values);
    const bool drawn = limit && *limit <= top * 3 && *limit > 0;
    if (drawn)
        top = std::max(top, *limit);
    const auto limitRow = drawn ? static_cast<std::size_t>(std::min<double>(kRows - 1, *limit / top * kRows)) : kRows;
    auto text = curveName(curve) + ", " + headingOf(profile, curve, limits, amounts) + "\n";
    for (std::size_t row = kRows; row-- > 0;) {
        const auto label = row == kRows - 1 ? amountOf(curve, top, amounts) : row == 0 ? std::string("0") : std::string();
        text += padded(label, kAxisWidth - 2) + " │";
        for (const auto value : values) {
            const auto all = eighths(value, top, kRows * kEighths);
            const auto here = std::clamp(all - static_cast<int>(row) * kEighths, 0, kEighths);
            text += here == 0 && row == limitRow ? kLimitMark : kBlocks[static_cast<std::size_t>(here)];
        }
        text.resize(text.find_last_not_of(' ') + 1);
        text += "\n";
    }
    return text;
}

std::string timeAxis(const Profile& profile, const Amounts& amounts, std::size_t columns) {
    const auto end = amounts.duration(std::chrono::duration_cast<std::chrono::seconds>(profile.length()));
    std::string text = std::string(kAxisWidth - 1, ' ') + "└";
    for (std::size_t i = 0; i < columns; ++i)
        text += "─";
    return text + "\n" + std::string(kAxisWidth, ' ') + "0" + padded(end, columns - 1) + "\n";
}

} // namespace

std::string curveName(Curve curve) { return rowOf(curve).name; }

std::optional<double> limitOf(Curve curve, const ChartLimits& limits) {
    if (curve == Curve::Memory && limits.memory)
        return static_cast<double>(*limits.memory);
    if (curve == Curve::Cpu && limits.cpus)
        return *limits.cpus * 1e6;
    if (curve == Curve::Tasks && limits.tasks)
        return static_cast<double>(*limits.tasks);
    return std::nullopt;
}

std::string headingOf(const Profile& profile, Curve curve, const ChartLimits& limits, const Amounts& amounts) {
    auto text = amountOf(curve, highestOf(profile, curve), amounts) + " at most";
    const auto limit = limitOf(curve, limits);
    if (!limit)
        return text;
    const auto amount = amountOf(curve, *limit, amounts);
    // The number of slots does not limit a job's CPU time. If other jobs leave CPUs idle, a job can use more CPUs than it has
    // slots.
    return text + (curve == Curve::Cpu ? ", " + amount + " held" : ", limit " + amount);
}

std::vector<double> valuesOf(const Profile& profile, Curve curve, std::size_t columns) {
    std::vector<double> values(columns, 0);
    const auto whole = static_cast<double>(profile.length().count());
    if (whole <= 0)
        return values;
    double begin = 0; // the time at which `point` begins, converted to columns of the chart
    for (const auto& point : profile.points()) {
        const auto end = begin + static_cast<double>(point.length.count()) / whole * static_cast<double>(columns);
        for (auto column = static_cast<std::size_t>(begin); column < columns && static_cast<double>(column) < end; ++column) {
            const auto share = std::min(end, static_cast<double>(column + 1)) - std::max(begin, static_cast<double>(column));
            values[column] += meanOf(point, curve) * share;
        }
        begin = end;
    }
    return values;
}

double highestOf(const Profile& profile, Curve curve) {
    double highest = 0;
    for (const auto& point : profile.points()) {
        double sum = 0; // if two measures reach their highest values at different moments, `sum` is a little too high
        for (const auto measure : rowOf(curve).sum)
            sum += point.mostOf(measure);
        highest = std::max(highest, sum);
    }
    return highest;
}

std::string amountOf(Curve curve, double value, const Amounts& amounts) {
    switch (curve) {
    case Curve::Memory:
    case Curve::Cache:
        return bytes(value, amounts);
    case Curve::Cpu:
        return decimal(value / 1e6) + " CPUs";
    case Curve::Io:
        return bytes(value, amounts) + "/s";
    case Curve::Tasks:
        return std::to_string(std::llround(value));
    case Curve::MemoryPressure:
        return std::to_string(std::llround(value / 1e4)) + "%";
    }
    return "";
}

bool isShown(const Profile& profile, Curve curve, const Amounts& amounts) {
    return amountOf(curve, highestOf(profile, curve), amounts) != amountOf(curve, 0, amounts);
}

std::string sparkline(const std::vector<double>& values, double highest) {
    std::string text;
    for (const auto value : values)
        text += kBlocks[static_cast<std::size_t>(eighths(value, highest, kEighths))];
    return text;
}

std::string profileLines(const Profile& profile, const Amounts& amounts) {
    std::string text;
    for (const auto& row : curves()) {
        if (!isShown(profile, row.curve, amounts))
            continue;
        const auto values = valuesOf(profile, row.curve, kSparkColumns);
        const auto top = *std::ranges::max_element(values);
        const std::string name = row.name;
        text += "  " + name + std::string(kCurveNameWidth - name.size(), ' ') + sparkline(values, top) + " at most " +
                amountOf(row.curve, highestOf(profile, row.curve), amounts) + "\n";
    }
    const auto time = std::chrono::duration_cast<std::chrono::seconds>(profile.length());
    return text.empty() ? "" : "What the job used over " + amounts.duration(time) + ":\n" + text;
}

std::string useOverTime(const Result<Profile>& profile, const Amounts& amounts) {
    const auto lines = profile ? profileLines(*profile, amounts) : std::string();
    return lines.empty() ? lines : "\n" + lines;
}

ChartLimits chartLimits(const ResourceLimits& limits, std::optional<std::uint64_t> slots) {
    return {.memory = finite(limits.memoryMax), .cpus = cpusHeld(limits, slots), .tasks = finite(limits.tasksMax)};
}

std::string profileCharts(const Profile& profile, const ChartLimits& limits, const Amounts& amounts, std::size_t width) {
    const auto columns = std::max(width, kLeastWidth) - kAxisWidth;
    std::string text;
    for (const auto& row : curves()) {
        if (!isShown(profile, row.curve, amounts))
            continue;
        text += (text.empty() ? "" : "\n") + chart(profile, row.curve, limits, amounts, columns) +
                timeAxis(profile, amounts, columns);
    }
    return text;
}

} // namespace pinfold
