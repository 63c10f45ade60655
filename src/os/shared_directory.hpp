// SPDX-License-Identifier: LGPL-2.1-or-later
// Examines and removes entries of a directory to which all users can write, such as /tmp. SharedDirectory works on descriptors.
// Even if an entry's owner renames or replaces files during the work, SharedDirectory follows no link and crosses no mount point.
#pragma once

#include "base/clock.hpp"
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
    std::string name; ///< the name of the entry, which can contain any bytes
    FileStatus status;
};

/// Describes a file, or a directory with everything in it.
struct TreeSurvey {
    std::uint64_t size = 0;
    std::uint64_t entries = 0; ///< the number of entries, including the file or directory itself
    /// The number of entries that are mount points or belong to other users. survey() does not look into a mount point or into an
    /// entry of another user.
    std::uint64_t others = 0;
    /// The time at which the oldest of the entries was created. `oldest` is unset if the file system does not store when each
    /// entry was created.
    std::optional<RealTime> oldest;
    RealTime touched{}; ///< the time at which one of the entries last changed
    bool inUse = false;
};

struct TreeRemoval {
    std::uint64_t size = 0;
    std::uint64_t entries = 0;
    std::uint64_t others = 0; ///< the number of entries that remove() has left: mount points, and entries of other users
};

class SharedDirectory {
public:
    /// Opens the directory. Fails with Internal if the directory cannot be opened. Fails with ConfigInvalid if somebody other
    /// than root and the user of this process can rename all entries of the directory.
    static Result<SharedDirectory> open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::uint64_t device() const { return device_; }

    /// Returns the entries that are directly in the directory, no matter who owns the entries. The result contains neither mount
    /// points nor entries that pinfold cannot examine, such as a user's FUSE mount. Error: Internal.
    Result<std::vector<DirectoryEntry>> entries() const;
    /// If directories are nested deeper than kMostDepth, survey() and remove() return an Error.
    static constexpr unsigned kMostDepth = 200;
    /// Examines an entry and everything in it. survey() calls `inUse` to find out whether a process uses a file. Fails with
    /// Internal if survey() could not examine a part of the entry.
    Result<TreeSurvey> survey(const DirectoryEntry& entry, const std::function<bool(const FileId&)>& inUse) const;
    /// Uses the rights of the entry's owner to remove the entry. If the entry is a directory, remove() first removes the contents
    /// of the directory. remove() removes no file or directory of another user. The error is Busy if the entry has changed since
    /// the directory was listed. The error is Internal if remove() could not remove a part of the entry.
    Result<TreeRemoval> remove(const DirectoryEntry& entry) const;

private:
    SharedDirectory(std::filesystem::path path, UniqueFd directory, std::uint64_t device)
        : path_(std::move(path)), directory_(std::move(directory)), device_(device) {}

    std::filesystem::path path_;
    UniqueFd directory_;
    std::uint64_t device_;
};

} // namespace pinfold
