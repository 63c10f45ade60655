// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws what a job used over time, in block characters.
#pragma once

#include "base/result.hpp"
#include "model/profile.hpp"
#include "model/receipt.hpp"
#include "wording/amounts.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Names the curves that pages show. The amounts of memory do not contain page cache, except in the curve Cache.
enum class Curve { Memory, Cache, Cpu, Io, Tasks, MemoryPressure };
inline constexpr std::array kAllCurves{Curve::Memory, Curve::Cache, Curve::Cpu, Curve::Io, Curve::Tasks, Curve::MemoryPressure};
std::string curveName(Curve curve);

/// Divides the profile's time into `columns` equal parts, and returns the mean value of the curve in each part.
std::vector<double> valuesOf(const Profile& profile, Curve curve, std::size_t columns);
/// Returns the highest value that a curve had at any moment. The result can be above all values that valuesOf() returns, because
/// valuesOf() returns means.
double highestOf(const Profile& profile, Curve curve);
/// Returns an amount of the curve in words, such as "25M", "1.5 CPUs" or "3M/s".
std::string amountOf(Curve curve, double value, const Amounts& amounts);

/// Returns true if the pages show the curve. If the highest value of a curve rounds to zero, the pages do not show the curve. In
/// every chart, the highest value has the full height, so a curve of tiny values would look like a curve of large values.
bool isShown(const Profile& profile, Curve curve, const Amounts& amounts);

/// Returns one line with a block character for each value. The value `highest` becomes a full block.
std::string sparkline(const std::vector<double>& values, double highest);

/// Returns lines for the page of `pinfold why`. Each curve that isShown() allows has one line. The text is empty for an empty
/// profile.
std::string profileLines(const Profile& profile, const Amounts& amounts);
/// Returns the text for the page about a job: an empty line, and the lines of profileLines(). The text is empty if there is no
/// profile.
std::string useOverTime(const Result<Profile>& profile, const Amounts& amounts);

/// Holds the limits that a chart shows as lines. A member is unset if the job does not have the limit.
struct ChartLimits {
    std::optional<std::uint64_t> memory; ///< in bytes
    std::optional<double> cpus;          ///< how many CPUs the job holds, as cpusHeld() says
    std::optional<std::uint64_t> tasks;
};
ChartLimits chartLimits(const ResourceLimits& limits, std::optional<std::uint64_t> slots);
/// Returns the job's limit for the resource of the curve, such as memory. The result has the same unit as valuesOf().
std::optional<double> limitOf(Curve curve, const ChartLimits& limits);
/// Returns the heading of a chart: the highest value of the curve and the limit, such as "699M at most, limit 1G".
std::string headingOf(const Profile& profile, Curve curve, const ChartLimits& limits, const Amounts& amounts);

/// Returns a chart for each curve for which isShown() is true. A chart is `width` columns wide, but at least 40 columns.
std::string profileCharts(const Profile& profile, const ChartLimits& limits, const Amounts& amounts, std::size_t width);

} // namespace pinfold
