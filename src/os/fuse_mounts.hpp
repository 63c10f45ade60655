// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>

namespace pinfold {

/// Returns true if no request waits for the file server of a FUSE (or virtiofs) mount of the node. nodesFuseServersAnswer() looks
/// only at mounts in the mount namespace of the calling process. nodesFuseServersAnswer() ignores mounts by users (user_id=1000
/// or higher, see fuse(8)). If pinfold cannot find out whether a request waits for a file server, the result is false. Sources:
/// proc_pid_mountinfo(5); Documentation/filesystems/fuse.rst for /sys/fs/fuse/connections.
bool nodesFuseServersAnswer(const std::filesystem::path& root = "/");

/// Returns true if an ordinary user runs a FUSE file server, in any mount namespace. Only the user who runs a file server can ask
/// the kernel how many requests wait for the server. If pinfold cannot find out whether a user runs a file server, the result is
/// false.
bool usersServeFuse(const std::filesystem::path& root = "/");

} // namespace pinfold
