// SPDX-License-Identifier: LGPL-2.1-or-later
// The user ids that newuidmap(1) gives users besides their own: /etc/subuid, subuid(5).
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
    std::string owner; ///< a name, or a number
};

struct SubordinateIds {
    std::map<uid_t, SubordinateRange> ranges; ///< by their first id; the ranges do not overlap
    std::vector<std::size_t> wrongLines;      ///< numbers, from 1, of the lines that are not ranges
};

/// A user's own id and subordinate ids.
struct UserIds {
    uid_t user = 0;
    std::vector<std::pair<uid_t, uid_t>> subordinate = {}; ///< the first and the last of each range

    bool has(uid_t id) const;
};

/// The owner of this subordinate id, as the file names them; for any other id the id itself, as a number.
std::string ownerOf(const SubordinateIds& ids, uid_t id);

/// Reads lines of name:first:count. An id in several lines belongs to the first of them. Empty lines and comments (#) do not
/// count.
SubordinateIds parseSubordinateIds(std::string_view text);

} // namespace pinfold
