// SPDX-License-Identifier: LGPL-2.1-or-later
// Finds out from which of a user's jobs an ssh connection comes. This is possible if it comes from this very node.
#pragma once

#include "pam/choice.hpp"
#include "socket_client/deadline.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// The number (inode) of the socket at the client's end, if that is on this node. `connection`: as in SSH_CONNECTION of ssh(1),
/// "client's address and port, server's address and port". `tcp`: /proc/net/tcp or tcp6.
std::optional<std::uint64_t> clientSocket(std::string_view connection, std::string_view tcp);

/// The job in which the client's end of the connection is. nullopt: it is in none of these jobs, or the search took too long.
/// `root`: the prefix of /proc and /sys.
std::optional<std::string> originOf(const std::string& connection, const Jobs& jobs, const Deadline& deadline,
                                    const std::filesystem::path& root = "/");

} // namespace pinfold
