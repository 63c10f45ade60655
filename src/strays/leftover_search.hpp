// SPDX-License-Identifier: LGPL-2.1-or-later
// Searches the node once for what ended jobs left in directories and in System V IPC, and removes what may go, if that is wanted.
#pragma once

#include "model/subordinate_ids.hpp"
#include "os/journal.hpp"
#include "strays/leftover_files.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace pinfold {

struct LeftoverRules {
    std::function<bool(uid_t)> ordinary; ///< users whose files are looked at
    std::vector<std::filesystem::path> directories;
    std::uint64_t minAge = 0;         ///< microseconds since the job's end
    bool root = true;                 ///< this process is root
    SubordinateIds subordinates = {}; ///< a subordinate id counts as its owner when looks into processes hang
    std::vector<std::string> doubts;  ///< doubts about these rules, a line each; they count as gaps
};

/// What pinfoldd, its records and its receipts say. An Error is a gap: for the user who is asked about, or else for the node.
struct LeftoverSources {
    std::function<Result<std::set<uid_t>>()> usersWithLiveJobs;
    /// The user's jobs that ended at `since` (CLOCK_REALTIME, microseconds) or later.
    std::function<Result<std::vector<EndedJob>>(uid_t uid, std::uint64_t since)> endedJobs;
};

struct LeftoverFile {
    UserFile file;
    JobsOfFile jobs;          ///< the jobs that ran when it was born or, if that is not known, changed last
    std::optional<Kept> kept; ///< unset: it may be removed
    bool removed = false;
    std::uint64_t others = 0;         ///< entries of other users in it, which are left where they are
    std::optional<std::string> error; ///< why it could not be looked at, or could not be removed

    bool failed() const { return error && !kept; }
};

/// Something that is not known.
struct LeftoverGap {
    std::optional<uid_t> user; ///< nothing of this user is removed; unset: nothing is removed at all
    std::string what;          ///< what is not known, in one line

    bool operator==(const LeftoverGap&) const = default;
};

struct LeftoverListing {
    std::vector<LeftoverFile> files; ///< by user, kind and name
    std::vector<LeftoverGap> gaps;
};

/// Without `journal` nothing is removed. With it, each removal gets an entry, and so does everything that cannot be removed.
LeftoverListing searchLeftovers(const LeftoverRules& rules, const LeftoverSources& sources, Journal* journal);

} // namespace pinfold
