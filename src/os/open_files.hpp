// SPDX-License-Identifier: LGPL-2.1-or-later
// Who is on the node, and what they hold: all of /proc, or an error.
#pragma once

#include "base/result.hpp"
#include "os/file_status.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <set>

namespace pinfold {

struct Inhabitants {
    std::set<pid_t> pids;
    std::set<uid_t> users; ///< with a real, effective or saved user id
};

/// `root` is prefixed to /proc. Error: Internal when /proc doesn't show all processes, or one can't be read.
Result<Inhabitants> listInhabitants(const std::filesystem::path& root = "/");

/// What is open, mapped, or the root or working directory of a process, on these devices (FileId::device). Takes CAP_SYS_PTRACE.
/// Error: Internal when a process could not be looked into.
Result<std::set<FileId>> filesInUse(const std::set<std::uint64_t>& devices, const std::filesystem::path& root = "/");

} // namespace pinfold
