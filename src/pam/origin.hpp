// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds the job in which an ssh client opened a connection to this node. originOf() finds the job only if the client of the ssh
// connection runs on this node.
#pragma once

#include "base/deadline.hpp"
#include "pam/choice.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold::pam {

/// Returns the number (inode) of the socket at the client's end, if the client is on this node. `connection` has the form of
/// SSH_CONNECTION (ssh(1)): the client's address and port, and the server's address and port. `tcp` is the text of /proc/net/tcp
/// or /proc/net/tcp6.
std::optional<std::uint64_t> clientSocket(std::string_view connection, std::string_view tcp);

/// Looks for the process at the client's end of the connection. If the process is in a job, returns the job's key. Returns
/// nullopt if no process of `jobs` holds the client's end of the connection, or if the search took too long. The directory `root`
/// contains "proc" and "sys", and is "/" except in tests.
std::optional<std::string> originOf(const std::string& connection, const Jobs& jobs, const Deadline& deadline,
                                    const std::filesystem::path& root = "/");

} // namespace pinfold::pam
