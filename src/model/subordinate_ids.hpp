// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads /etc/subuid, the list of the subordinate user ids that users are allowed to use with newuidmap(1). For the format of
// /etc/subuid see subuid(5).
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold {

struct SubordinateRange {
    uid_t last = 0;
    std::string owner; ///< the owner of the range, as a user's name or a number
};

struct SubordinateIds {
    std::map<uid_t, SubordinateRange> ranges; ///< maps the first id of each range to the range; the ranges do not overlap
    std::vector<std::size_t> wrongLines;      ///< the numbers of the lines without a valid range; the first line has the number 1
};

/// Holds a user's own id and subordinate ids.
struct UserIds {
    uid_t user = 0;
    std::vector<std::pair<uid_t, uid_t>> subordinate = {}; ///< the first and the last id of each range of subordinate ids

    bool has(uid_t id) const;
};

/// Holds the owners of all ranges of subordinate ids, as user ids.
struct SubordinateOwners {
    struct Range {
        uid_t last = 0;
        uid_t owner = 0;
    };
    std::map<uid_t, Range> ranges = {}; ///< maps the first id of each range to the range; the ranges do not overlap

    /// Returns the owner of `id` if `id` is a subordinate id. If `id` is not a subordinate id, the result is `id`.
    uid_t userOf(uid_t id) const;
};

/// Returns the owner of a subordinate id in the form that /etc/subuid uses: a name or a number. If `id` is not a subordinate id,
/// the result is `id` as text.
std::string ownerOf(const SubordinateIds& ids, uid_t id);

/// Reads lines of the form `name:first:count`. If the ranges of several lines contain the same id, only the first of these
/// lines decides who owns the id. Empty lines and comments (#) are ignored.
SubordinateIds parseSubordinateIds(std::string_view text);

} // namespace pinfold
