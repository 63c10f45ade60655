// SPDX-License-Identifier: LGPL-2.1-or-later
// A directory that all users write to, such as /tmp. Its entries are looked at and removed by descriptors. No link is followed
// and no mount point crossed, whatever an entry's owner renames or replaces meanwhile.
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
    std::uint64_t entries = 0; ///< including the file or directory itself
    std::uint64_t others = 0;  ///< entries of other users, and mount points, which are not looked into and are in no other figure
    std::optional<std::uint64_t> oldest; ///< the first birth of an entry; unset: some births are unknown
    std::uint64_t touched = 0;           ///< the last change of an entry
    bool inUse = false;
};

struct TreeRemoval {
    std::uint64_t size = 0;
    std::uint64_t entries = 0;
    std::uint64_t others = 0; ///< entries of others, which are left where they are
};

class SharedDirectory {
public:
    /// Errors: Internal when the directory cannot be opened; ConfigInvalid when users other than root and this process's user can
    /// rename its entries.
    static Result<SharedDirectory> open(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return path_; }
    std::uint64_t device() const { return device_; }

    /// The entries directly in the directory, of all users. Mount points, and entries that cannot be looked at (a user's FUSE
    /// mount), are left out. Error: Internal.
    Result<std::vector<DirectoryEntry>> entries() const;
    /// If directories are nested deeper than this, survey() and remove() return an Error.
    static constexpr unsigned kMostDepth = 200;
    /// Looks at an entry and everything in it. `inUse`: tells whether a file is in use. Error: Internal when a part could not be
    /// looked at.
    Result<TreeSurvey> survey(const DirectoryEntry& entry, const std::function<bool(const FileId&)>& inUse) const;
    /// Removes the entry and what is in it, as far as it belongs to the entry's owner, with the owner's rights. Errors: Busy when
    /// the entry has changed since it was listed; Internal when a part of it could not be removed.
    Result<TreeRemoval> remove(const DirectoryEntry& entry) const;

private:
    SharedDirectory(std::filesystem::path path, UniqueFd directory, std::uint64_t device)
        : path_(std::move(path)), directory_(std::move(directory)), device_(device) {}

    std::filesystem::path path_;
    UniqueFd directory_;
    std::uint64_t device_;
};

} // namespace pinfold
