// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive/status_query.hpp"

#include "archive/patience.hpp"
#include "base/parse.hpp"

#include <charconv>

namespace pinfold {
namespace {

// The queries return a point in time as the number of microseconds since 1970. The column `clock_off` is a duration in
// microseconds.
constexpr const char* kStatusQuery =
    "SELECT node, epoch, position, newest, unsent, gaps, rejected, replaced_histories,"
    " (extract(epoch FROM seen) * 1000000)::bigint, (extract(epoch FROM complete) * 1000000)::bigint,"
    " (extract(epoch FROM clock_off) * 1000000)::bigint, (extract(epoch FROM restored) * 1000000)::bigint"
    " FROM pinfold.status ORDER BY node";
constexpr const char* kNow = "SELECT (extract(epoch FROM now()) * 1000000)::bigint";

using Row = std::vector<std::optional<std::string>>;

std::int64_t number(const std::optional<std::string>& text) {
    std::int64_t value = 0;
    if (text)
        std::from_chars(text->data(), text->data() + text->size(), value);
    return value;
}

std::uint64_t count(const std::optional<std::string>& text) { return static_cast<std::uint64_t>(number(text)); }
RealTime time(const std::optional<std::string>& text) { return fromUsec<RealTime>(count(text)); }
std::optional<RealTime> optionalTime(const std::optional<std::string>& text) {
    return text ? std::optional(time(text)) : std::nullopt;
}

ArchiveNode nodeOf(const Row& row) {
    return {.node = row.at(0).value_or(""),
            .epoch = row.at(1).value_or(""),
            .position = count(row.at(2)),
            .newest = count(row.at(3)),
            .unsent = count(row.at(4)),
            .seen = time(row.at(8)),
            .complete = optionalTime(row.at(9)),
            .missing = count(row.at(5)),
            .rejected = count(row.at(6)),
            .replacedHistories = count(row.at(7)),
            .restored = optionalTime(row.at(11)),
            .clockOff = number(row.at(10))};
}

} // namespace

Result<ArchiveStatus> readStatus(PostgresConnection& connection) {
    const auto rows = connection.run(kStatusQuery, {}, kQueryPatience);
    if (!rows)
        return rows.error();
    const auto now = connection.run(kNow, {}, kQueryPatience);
    if (!now)
        return now.error();
    ArchiveStatus status{.now = time(now->rows.at(0).at(0)), .nodes = {}};
    for (const auto& row : rows->rows)
        status.nodes.push_back(nodeOf(row));
    return status;
}

} // namespace pinfold
