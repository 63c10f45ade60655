// SPDX-License-Identifier: LGPL-2.1-or-later
// A directory that all users write to, such as /tmp. What lies in it is looked at and removed by descriptors: no link is followed
// and no mount point crossed, whatever its owner renames or replaces meanwhile.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/file_status.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct DirectoryEntry {
    std::string name; ///< any bytes
    FileStatus status;
};

/// A file, or a directory with all that is in it.
struct TreeSurvey {
    std::uint64_t size = 0;
    std::uint64_t entries = 0;           ///< itself too
    std::uint64_t others = 0;            ///< entries of other users, and mount points: not looked into, and in no other figure
    std::optional<std::uint64_t> oldest; ///< birth of what was born first; unset: some births are unknown
    std::uint64_t touched = 0;           ///< the last change of any of them
    bool inUse = false;
};

struct TreeRemoval {
    std::uint64_t size = 0;
    std::uint64_t entries = 0;
    std::uint64_t others = 0; ///< left where they are
};

class SharedDirectory {
public:
    /// Errors: Internal, when it can't be opened; ConfigInvalid, when others than root and we can rename what lies in it.
    static Result<SharedDirectory> open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::uint64_t device() const { return device_; }

    /// Of users only, and not below it. What can't be looked at (a user's FUSE mount) is left out. Error: Internal.
    Result<std::vector<DirectoryEntry>> entries() const;
    /// Directories that are nested deeper are not looked into, which is an Error.
    static constexpr unsigned kMostDepth = 200;
    /// `inUse`: is this file open? Error: Internal when a part could not be looked at.
    Result<TreeSurvey> survey(const DirectoryEntry& entry, const std::function<bool(const FileId&)>& inUse) const;
    /// What belongs to the entry's owner, with the owner's rights. Errors: Busy when it is not what it was when it was listed;
    /// Internal when a part of it could not be removed.
    Result<TreeRemoval> remove(const DirectoryEntry& entry) const;

private:
    SharedDirectory(std::filesystem::path path, UniqueFd directory, std::uint64_t device)
        : path_(std::move(path)), directory_(std::move(directory)), device_(device) {}

    std::filesystem::path path_;
    UniqueFd directory_;
    std::uint64_t device_;
};

} // namespace pinfold
