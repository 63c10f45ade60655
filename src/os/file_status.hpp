// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>

namespace pinfold {

/// Identifies a file for as long as the file exists.
struct FileId {
    std::uint64_t device = 0; ///< major number in the upper 32 bits, minor in the lower
    std::uint64_t inode = 0;

    auto operator<=>(const FileId&) const = default; // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads the operator
};

/// The status of a file, as statx(2) gives it. Times are CLOCK_REALTIME microseconds.
struct FileStatus {
    FileId id = {};
    uid_t uid = 0;
    bool directory = false;
    bool mountPoint = false;
    std::uint64_t size = 0;                 ///< bytes that the file takes on the file system
    std::optional<std::uint64_t> born = {}; ///< unset: the file system does not say
    std::uint64_t modified = 0;             ///< the last change of its contents
    std::uint64_t touched = 0;              ///< the last change of its contents or of its inode

    /// True: this is the same file with the same contents. (Its size on disk changes when the kernel writes it, its inode when a
    /// link to it goes.)
    bool unchanged(const FileStatus& before) const {
        return id == before.id && uid == before.uid && directory == before.directory && mountPoint == before.mountPoint &&
               born == before.born && modified == before.modified;
    }
};

/// The status of `name` in a directory, or of the directory itself when `name` is "". Follows no link, and asks no file server,
/// so that no server can keep us waiting. nullopt, with errno set, when the status cannot be read.
std::optional<FileStatus> fileStatus(int directory, const char* name);

} // namespace pinfold
