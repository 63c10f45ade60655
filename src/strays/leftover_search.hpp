// SPDX-License-Identifier: LGPL-2.1-or-later
// One look over the node for what ended jobs left in directories and in System V IPC; what may go is removed if that is wanted.
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
    bool root = true;                 ///< that is what this process is
    SubordinateIds subordinates = {}; ///< such an id counts as its owner where looks into processes hang
    std::vector<std::string> doubts;  ///< about these rules, a line each; gaps, too
};

/// What pinfoldd and its records and receipts say. An Error is a gap: of the user who is asked about, or else of the node.
struct LeftoverSources {
    std::function<Result<std::set<uid_t>>()> usersWithLiveJobs;
    /// That ended at `since` (CLOCK_REALTIME, microseconds) or later.
    std::function<Result<std::vector<EndedJob>>(uid_t uid, std::uint64_t since)> endedJobs;
};

struct LeftoverFile {
    UserFile file;
    JobsOfFile jobs;          ///< in whose time it was born; of unknown birth: changed last
    std::optional<Kept> kept; ///< unset: it may go
    bool removed = false;
    std::uint64_t others = 0;         ///< of other users in it, left where they are
    std::optional<std::string> error; ///< why it could not be looked at, or could not be removed

    bool failed() const { return error && !kept; }
};

/// Something that is not known.
struct LeftoverGap {
    std::optional<uid_t> user; ///< nothing of theirs is removed; unset: nothing of anybody's
    std::string what;          ///< a line

    bool operator==(const LeftoverGap&) const = default;
};

struct LeftoverListing {
    std::vector<LeftoverFile> files; ///< by user, kind and name
    std::vector<LeftoverGap> gaps;
};

/// Without `journal` nothing is removed; else what is gets an entry each, and so does what can't be.
LeftoverListing searchLeftovers(const LeftoverRules& rules, const LeftoverSources& sources, Journal* journal);

} // namespace pinfold
