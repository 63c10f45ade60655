// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes the options of `pinfold archive`. pinfold has them for the help and the completions, and archive-admin, which does
// the work, reads them.
#pragma once

#include "base/clock.hpp"
#include "build_config.hpp"
#include "options/option.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace pinfold {

struct ArchiveOptions {
    std::string action; ///< init, upgrade, status or prune
    std::string host;   ///< the name of the server, or the directory of its socket; empty is the socket of this host
    std::uint16_t port = 5432;
    std::string database = "pinfold";
    std::string user = "postgres";
    // The files are for a connection to the name of a server.
    std::string certificate = "/etc/pinfold/archive/node.crt";
    std::string key = "/etc/pinfold/archive/node.key";
    std::string ca = "/etc/pinfold/archive/ca.crt";
    std::optional<Microseconds> olderThan;
    std::string sql = PINFOLD_ARCHIVE_SQL; ///< the directory of the files of all versions of the tables
};

constexpr const char* kArchiveSummary = "make, upgrade, check and prune the archive of a site";

OptionSet archiveOptions(ArchiveOptions& options);

} // namespace pinfold
