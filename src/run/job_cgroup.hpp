// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace pinfold {

/// Whether processes of the job, or of one task of it, are left: by the kernel's word, whoever else answers or not. Anyone may
/// read it. The file is kept open from the job's start: by its name it could be a later job's with the same key.
class JobCgroup {
public:
    /// `task`: unset for the whole job. `root`: where cgroup v2 is mounted.
    JobCgroup(const std::string& key, std::optional<std::uint32_t> task, const std::filesystem::path& root = "/sys/fs/cgroup");

    /// Unset when it cannot be known.
    std::optional<bool> populated() const;

private:
    UniqueFd events_; ///< cgroup.events
};

} // namespace pinfold
