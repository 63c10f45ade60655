// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out which users have processes on the node, and which files the processes use. The functions of open_files.hpp read all
// of /proc, or return an error.
#pragma once

#include "base/result.hpp"
#include "os/file_status.hpp"
#include "os/process_looks.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace pinfold {

struct Inhabitants {
    std::set<pid_t> pids;
    std::set<uid_t> users; ///< the real, effective and saved user ids of all processes
};

/// Lists the users who have processes on the node. The directory `root` contains "proc", and is "/" except in tests. Fails with
/// Internal if /proc does not show all processes, or if a process cannot be read.
Result<Inhabitants> listInhabitants(const std::filesystem::path& root = "/");

struct FilesInUse {
    std::set<FileId> files;
    /// Maps a user to the reason why pinfold could not examine one of the user's processes. If a process has the ids of several
    /// users, it belongs to all these users. If one of the process's user ids is 0, the process belongs only to root.
    std::map<uid_t, std::string> unseen;
};

/// Returns the files that processes use and that are on the given devices (FileId::device). A file is in use if it is an open
/// file, a mapped file, the root directory or the working directory of a process. The function filesInUse() needs CAP_SYS_PTRACE.
/// Fails with Internal if /proc does not show all processes.
Result<FilesInUse> filesInUse(const std::set<std::uint64_t>& devices, ProcessLooks& looks,
                              const std::filesystem::path& root = "/");

} // namespace pinfold
