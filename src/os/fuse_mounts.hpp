// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <filesystem>

namespace pinfold {

/// True: no request waits for a file server that the node itself has mounted with FUSE (or virtiofs). What users have mounted
/// (the option user_id= of fuse(8), from 1000 on) does not count, nor what is mounted in other mount namespaces. False also when
/// this cannot be known. Sources: proc_pid_mountinfo(5); Documentation/filesystems/fuse.rst for /sys/fs/fuse/connections.
bool nodesFuseServersAnswer(const std::filesystem::path& root = "/");

/// True: an ordinary user runs a file server in FUSE, in whichever mount namespace. The kernel tells only that user how many
/// requests wait for it. False also when this cannot be known.
bool usersServeFuse(const std::filesystem::path& root = "/");

} // namespace pinfold
