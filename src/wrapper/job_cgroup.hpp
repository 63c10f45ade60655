// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace pinfold {

/// Tells whether processes of the job, or of one task of the job, are left. The kernel tells this in a file that anyone may read,
/// whether pinfoldd answers or not. The file is kept open from the job's start, because a file of the same name could belong to a
/// later job with the same key.
class JobCgroup {
public:
    /// `task`: unset stands for the whole job. `root`: where cgroup v2 is mounted.
    JobCgroup(const std::string& key, std::optional<std::uint32_t> task, const std::filesystem::path& root = "/sys/fs/cgroup");

    /// True: processes are left. Unset: this cannot be known.
    std::optional<bool> populated() const;

private:
    UniqueFd events_; ///< cgroup.events
};

} // namespace pinfold
