// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/top_rows.hpp"

#include "wording/efficiency.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <unordered_map>

namespace pinfold {
namespace {

using Amount = std::optional<std::uint64_t>;

Amount usec(std::optional<Microseconds> time) { return time ? Amount(toUsec(*time)) : std::nullopt; }

/// Returns the figures of a job at its start, when the job had not used any CPU time or I/O.
TopJob atStart(const JobInfo& info) {
    TopJob start;
    start.info = info;
    start.at = info.created;
    start.usage.cpuUser = start.usage.cpuSystem = 0s;
    start.usage.ioRead = start.usage.ioWritten = 0;
    return start;
}

/// Returns by how much an amount has increased per second between two measurements. If an amount is not known, or if somebody has
/// set the clock back between the measurements, the result is unset.
std::optional<double> rate(Amount before, Amount now, const TopJob& first, const TopJob& last) {
    if (!before || !now || *now < *before || last.at <= first.at)
        return std::nullopt;
    return static_cast<double>(*now - *before) * 1e6 / static_cast<double>(toUsec(last.at - first.at));
}

Amount rounded(std::optional<double> value) {
    return value ? Amount(static_cast<std::uint64_t>(std::llround(*value))) : std::nullopt;
}

TopRow row(const TopJob& before, const TopJob& now) {
    TopRow row;
    row.job = now.info;
    row.age = timeBetween(now.info.created, now.at);
    row.cpuTime = cpuTime(now.usage);
    if (const auto used = rate(usec(cpuTime(before.usage)), usec(row.cpuTime), before, now)) {
        row.cpu = *used / 1e4;
        if (now.bounds.cpus && *now.bounds.cpus > 0)
            row.cpuOfAllowed = *row.cpu / *now.bounds.cpus;
    }
    row.memory = memoryInUse(now.usage);
    row.memoryNeed = now.info.memoryNeed;
    row.cache = pageCache(now.usage);
    row.memoryCurrent = now.usage.memoryCurrent;
    row.memoryMax = now.bounds.memoryMax;
    row.memoryPeak = now.usage.memoryPeak;
    row.readRate = rounded(rate(before.usage.ioRead, now.usage.ioRead, before, now));
    row.writeRate = rounded(rate(before.usage.ioWritten, now.usage.ioWritten, before, now));
    row.tasks = now.usage.tasksCurrent;
    return row;
}

template <class T> double orUnknown(const std::optional<T>& value) { return value ? static_cast<double>(*value) : -1.0; }

double ioRate(const TopRow& row) {
    return row.readRate && row.writeRate ? static_cast<double>(*row.readRate + *row.writeRate) : -1.0;
}

struct Order {
    const char* name;
    double (*amount)(const TopRow& row); ///< a negative result means that the amount is not known
};
constexpr std::array kOrders{Order{"cpu", [](const TopRow& row) { return orUnknown(row.cpu); }},
                             Order{"memory", [](const TopRow& row) { return orUnknown(row.memory); }},
                             Order{"io", ioRate},
                             Order{"threads", [](const TopRow& row) { return orUnknown(row.tasks); }},
                             Order{"time", [](const TopRow& row) { return orUnknown(usec(row.cpuTime)); }},
                             Order{"key", [](const TopRow&) { return 0.0; }}};

} // namespace

std::vector<TopRow> topRows(const TopSample& before, const TopSample& now) {
    std::unordered_map<std::string_view, const TopJob*> known;
    for (const auto& job : before.jobs)
        known.emplace(job.info.key, &job);
    std::vector<TopRow> rows;
    rows.reserve(now.jobs.size());
    for (const auto& job : now.jobs) {
        const auto found = known.find(job.info.key);
        const bool same = found != known.end() && found->second->info.created == job.info.created;
        rows.push_back(row(same ? *found->second : atStart(job.info), job));
    }
    return rows;
}

const std::vector<std::string>& sortNames() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const auto& order : kOrders)
            all.emplace_back(order.name);
        return all;
    }();
    return names;
}

void sortRows(std::vector<TopRow>& rows, const std::string& name) {
    const auto order = std::find_if(kOrders.begin(), kOrders.end(), [&name](const Order& known) { return known.name == name; });
    std::sort(rows.begin(), rows.end(), [order](const TopRow& a, const TopRow& b) {
        const auto first = order->amount(a);
        const auto second = order->amount(b);
        return first != second ? first > second : a.job.key < b.job.key;
    });
}

} // namespace pinfold
