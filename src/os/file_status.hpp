// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <sys/types.h>

#include <compare>
#include <cstdint>
#include <optional>

namespace pinfold {

/// Identifies a file. After the file was removed, a new file can get the same FileId.
struct FileId {
    /// The device number, with the major number in the upper 32 bits and the minor number in the lower 32 bits.
    std::uint64_t device = 0;
    std::uint64_t inode = 0;

    auto operator<=>(const FileId&) const = default; // NOLINT(modernize-use-nullptr): clang-tidy 14 misreads the operator
};

/// Holds the status of a file as statx(2) gives it.
struct FileStatus {
    FileId id = {};
    uid_t uid = 0;
    bool directory = false;
    bool mountPoint = false;
    std::uint64_t size = 0; ///< the space that the file takes on the file system, in bytes
    /// The time at which the file was created; unset if the file system does not store creation times.
    std::optional<RealTime> born = {};
    RealTime modified{}; ///< the time at which the file's contents changed last
    RealTime touched{};  ///< the time at which the file's contents or its inode changed last

    /// Returns true if this FileStatus and the older FileStatus `before` describe the same file with the same owner and contents.
    /// The function unchanged() ignores the size on disk, because that size changes when the kernel writes the file to the disk.
    /// The function unchanged() ignores the inode's time of change. The kernel changes the inode's time of change even when
    /// somebody removes a link to the file.
    bool unchanged(const FileStatus& before) const {
        return id == before.id && uid == before.uid && directory == before.directory && mountPoint == before.mountPoint &&
               born == before.born && modified == before.modified;
    }
};

/// Returns the status of `name` in a directory, or of the directory itself if `name` is "". The function fileStatus() follows no
/// link and asks no file server. A file server cannot make the caller of fileStatus() wait. Returns nullopt and sets errno if the
/// status cannot be read.
std::optional<FileStatus> fileStatus(int directory, const char* name);

} // namespace pinfold
