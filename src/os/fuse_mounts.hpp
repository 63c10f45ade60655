// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>

namespace pinfold {

/// Returns true if no request waits for a file server that the node itself has mounted with FUSE (or virtiofs). Mounts of users
/// (with the option user_id= of fuse(8) from 1000 on) do not count, and neither do mounts in other mount namespaces. Returns
/// false also if pinfold cannot know that. Sources: proc_pid_mountinfo(5); Documentation/filesystems/fuse.rst for
/// /sys/fs/fuse/connections.
bool nodesFuseServersAnswer(const std::filesystem::path& root = "/");

/// Returns true if an ordinary user runs a FUSE file server, in any mount namespace. The kernel tells only this user how many
/// requests wait for the server. Returns false also if pinfold cannot know that.
bool usersServeFuse(const std::filesystem::path& root = "/");

} // namespace pinfold
