// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/subordinate_ids.hpp"

#include "base/parse.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace pinfold {
namespace {

constexpr std::uint64_t kLastId = UINT32_MAX - 1; // the user id UINT32_MAX means "no user"

/// Removes the first field and the separator after the field from `text`. Returns the removed field without the separator.
std::string_view take(std::string_view& text, char separator) {
    const auto end = std::min(text.find(separator), text.size());
    const auto part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
}

void add(std::map<uid_t, SubordinateRange>& ranges, std::uint64_t first, std::uint64_t last, std::string_view owner) {
    auto next = ranges.upper_bound(static_cast<uid_t>(first));
    if (next != ranges.begin())
        first = std::max(first, std::uint64_t{std::prev(next)->second.last} + 1);
    for (; first <= last && next != ranges.end() && next->first <= last; ++next) {
        if (first < next->first)
            ranges.emplace(static_cast<uid_t>(first), SubordinateRange{next->first - 1, std::string(owner)});
        first = std::uint64_t{next->second.last} + 1;
    }
    if (first <= last)
        ranges.emplace(static_cast<uid_t>(first), SubordinateRange{static_cast<uid_t>(last), std::string(owner)});
}

/// Returns the range that contains `id`, or null if no range contains `id`.
template <class Range> const Range* rangeOf(const std::map<uid_t, Range>& ranges, uid_t id) {
    const auto next = ranges.upper_bound(id);
    if (next == ranges.begin())
        return nullptr;
    const auto& range = std::prev(next)->second;
    return id <= range.last ? &range : nullptr;
}

bool addLine(std::map<uid_t, SubordinateRange>& ranges, std::string_view line) {
    if (std::count(line.begin(), line.end(), ':') != 2)
        return false;
    const auto owner = take(line, ':');
    const auto first = parseUnsigned(take(line, ':'));
    const auto count = parseUnsigned(line);
    if (owner.empty() || !first || !count || *count == 0 || *first > kLastId)
        return false;
    add(ranges, *first, *first + std::min(*count - 1, kLastId - *first), owner);
    return true;
}

} // namespace

bool UserIds::has(uid_t id) const {
    return id == user || std::any_of(subordinate.begin(), subordinate.end(),
                                     [id](const auto& range) { return range.first <= id && id <= range.second; });
}

uid_t SubordinateOwners::userOf(uid_t id) const {
    const auto* range = rangeOf(ranges, id);
    return range ? range->owner : id;
}

std::string ownerOf(const SubordinateIds& ids, uid_t id) {
    const auto* range = rangeOf(ids.ranges, id);
    return range ? range->owner : std::to_string(id);
}

SubordinateIds parseSubordinateIds(std::string_view text) {
    SubordinateIds ids;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const auto line = take(text, '\n');
        if (!line.empty() && !line.starts_with('#') && !addLine(ids.ranges, line))
            ids.wrongLines.push_back(number);
    }
    return ids;
}

} // namespace pinfold
