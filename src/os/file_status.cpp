// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/file_status.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

namespace pinfold {
namespace {

RealTime realTime(const statx_timestamp& time) {
    return time.tv_sec < 0 ? RealTime()
                           : RealTime(std::chrono::seconds(time.tv_sec)) + std::chrono::microseconds(time.tv_nsec / 1000);
}

} // namespace

std::optional<FileStatus> fileStatus(int directory, const char* name) {
    struct statx from {};
    const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC | (*name == '\0' ? AT_EMPTY_PATH : 0);
    if (::statx(directory, name, flags, STATX_BASIC_STATS | STATX_BTIME, &from) != 0)
        return std::nullopt;
    FileStatus status;
    status.id = {std::uint64_t{from.stx_dev_major} << 32 | from.stx_dev_minor, from.stx_ino};
    status.uid = from.stx_uid;
    status.directory = S_ISDIR(from.stx_mode);
    status.mountPoint = (from.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    status.size = from.stx_blocks * 512;
    if ((from.stx_mask & STATX_BTIME) != 0)
        status.born = realTime(from.stx_btime);
    status.modified = realTime(from.stx_mtime);
    status.touched = std::max(status.modified, realTime(from.stx_ctime));
    return status;
}

} // namespace pinfold
