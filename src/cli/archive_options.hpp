// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes the options of `pinfold archive`. `pinfold` itself uses the description only in the help and in the completions of
// shells. The program archive-admin reads the options from the command line, and does the work of `pinfold archive`.
#pragma once

#include "base/clock.hpp"
#include "build_config.hpp"
#include "options/option.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

struct ArchiveOptions {
    std::string action; ///< the action of `pinfold archive`: init, upgrade, status or prune
    std::string host;   ///< the name of the server, or the directory of its socket; if empty, the socket on this host
    std::uint16_t port = 5432;
    std::string database = "pinfold";
    std::string user = "postgres";
    // If `host` is the name of a server, pinfold needs the files `certificate`, `key` and `ca` to connect to the server.
    std::string certificate = "/etc/pinfold/archive/node.crt";
    std::string key = "/etc/pinfold/archive/node.key";
    std::string ca = "/etc/pinfold/archive/ca.crt";
    std::optional<Microseconds> olderThan;
    std::string sql = PINFOLD_ARCHIVE_SQL; ///< the directory with the SQL files for all versions of the tables
};

constexpr const char* kArchiveSummary = "make, upgrade, check and prune the archive of a site";

OptionSet archiveOptions(ArchiveOptions& options);

} // namespace pinfold
