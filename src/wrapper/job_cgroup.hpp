// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace pinfold {

/// Tells whether processes of a job, or of one task of a job, are left. JobCgroup works even if pinfoldd does not answer,
/// because every user is allowed to read the cgroup file. JobCgroup opens the file at the job's start and keeps it open. After
/// the job's end, a new job can get the same key, and a new cgroup file can get the same path.
class JobCgroup {
public:
    /// If `task` is unset, the JobCgroup watches the whole job. `root` is the mount point of cgroup v2.
    JobCgroup(const std::string& key, std::optional<std::uint32_t> task, const std::filesystem::path& root = "/sys/fs/cgroup");

    /// Says whether the job or task still has processes. Returns nullopt if the file cannot be read.
    std::optional<bool> populated() const;

private:
    UniqueFd events_; ///< the file cgroup.events of the job or task
};

} // namespace pinfold
