// SPDX-License-Identifier: LGPL-2.1-or-later
// Who is on the node, and what they hold: all of /proc, or an error.
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
    std::set<uid_t> users; ///< with a real, effective or saved user id
};

/// `root` is prefixed to /proc. Error: Internal when /proc doesn't show all processes, or one can't be read.
Result<Inhabitants> listInhabitants(const std::filesystem::path& root = "/");

struct FilesInUse {
    std::set<FileId> files;
    /// The users whose processes could not be looked into, and why. A process belongs to each of its user ids, and to root alone
    /// if one of them is 0.
    std::map<uid_t, std::string> unseen;
};

/// What is open, mapped, or the root or working directory of a process, on these devices (FileId::device). Takes CAP_SYS_PTRACE.
/// Error: Internal when /proc doesn't show all processes.
Result<FilesInUse> filesInUse(const std::set<std::uint64_t>& devices, ProcessLooks& looks,
                              const std::filesystem::path& root = "/");

} // namespace pinfold
