// SPDX-License-Identifier: LGPL-2.1-or-later
// Searches the node once for files and System V IPC objects that ended jobs left behind. If the caller passes `journal`,
// searchLeftovers() removes every file and object for which `kept` is unset.
#pragma once

#include "base/clock.hpp"
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
    std::function<bool(uid_t)> ordinary; ///< returns true if searchLeftovers() should examine the user's files
    std::vector<std::filesystem::path> directories;
    Microseconds minAge{};            ///< the time that must pass between the job's end and the removal
    bool root = true;                 ///< this process is root
    SubordinateIds subordinates = {}; ///< the owners of subordinate ids, for ProcessLooks
    std::vector<std::string> doubts;  ///< one line for each problem of the rules; if there is a problem, pinfold removes nothing
};

/// Holds functions that ask pinfoldd, or read its records and receipts. If endedJobs() fails, pinfold does not know all facts
/// about the user `uid`. If usersWithLiveJobs() fails, pinfold does not know all facts about the users of the node.
struct LeftoverSources {
    std::function<Result<std::set<uid_t>>()> usersWithLiveJobs;
    /// Returns the user's jobs that ended at `since` or later.
    std::function<Result<std::vector<EndedJob>>(uid_t uid, RealTime since)> endedJobs;
};

struct LeftoverFile {
    UserFile file;
    /// The jobs that ran when the file was created. If the time of creation is unknown, `jobs` contains the jobs that ran when
    /// the file was last changed.
    JobsOfFile jobs;
    std::optional<Kept> kept; ///< why pinfold keeps the file; unset if pinfold has no reason to keep it
    bool removed = false;
    std::uint64_t others = 0; ///< the number of entries of other users in the directory; pinfold does not remove these entries
    std::optional<std::string> error; ///< the reason why pinfold could not examine the file, or could not remove the file

    bool failed() const { return error && !kept; }
};

/// Describes a fact that pinfold does not know but needs.
struct LeftoverGap {
    /// If `user` is set, pinfold keeps all files of this user. If `user` is unset, pinfold keeps the files of all users.
    std::optional<uid_t> user;
    std::string what; ///< describes the unknown fact in one line

    bool operator==(const LeftoverGap&) const = default;
};

struct LeftoverListing {
    std::vector<LeftoverFile> files; ///< the files and objects, sorted by user, kind and name
    std::vector<LeftoverGap> gaps;
};

/// Searches for leftovers. Without `journal`, searchLeftovers() removes nothing. If `journal` is given, searchLeftovers() removes
/// leftovers. searchLeftovers() writes a journal entry for each removed file, and for each file whose removal failed.
LeftoverListing searchLeftovers(const LeftoverRules& rules, const LeftoverSources& sources, Journal* journal);

} // namespace pinfold
