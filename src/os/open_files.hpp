// SPDX-License-Identifier: LGPL-2.1-or-later
// Which users are on the node, and which files they hold. It reads all of /proc, or gives an error.
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

/// `root`: the prefix of /proc. Error: Internal when /proc does not show all processes, or one cannot be read.
Result<Inhabitants> listInhabitants(const std::filesystem::path& root = "/");

struct FilesInUse {
    std::set<FileId> files;
    /// The users whose processes could not be looked into, and why. A process belongs to each of its user ids, and to root alone
    /// if one of them is 0.
    std::map<uid_t, std::string> unseen;
};

/// The files on these devices (FileId::device) that a process has open or mapped, or as its root or working directory. This needs
/// CAP_SYS_PTRACE. Error: Internal when /proc does not show all processes.
Result<FilesInUse> filesInUse(const std::set<std::uint64_t>& devices, ProcessLooks& looks,
                              const std::filesystem::path& root = "/");

} // namespace pinfold
