// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

namespace pinfold {

/// [archive]: where the site's archive of receipts is. All keys except `server` have valid defaults. If `server` is empty, the
/// site has no archive, and all further keys have no effect.
struct ArchiveConfig {
    std::string
        server; ///< server = "HOST" | "/DIR": the host of the PostgreSQL server, or the directory of its socket; may be ""
    std::uint16_t port = 5432;        ///< port = 5432: the server's TCP port, 1 or more
    std::string database = "pinfold"; ///< database = "pinfold": 1 to 63 printable bytes
    /// certificate = "/path": the absolute path of this host's certificate.
    std::string certificate = "/etc/pinfold/archive/node.crt";
    std::string key = "/etc/pinfold/archive/node.key"; ///< key = "/path": the private key of `certificate`
    std::string ca = "/etc/pinfold/archive/ca.crt";    ///< ca = "/path": certificates that sign the server's certificate
    /// max_unsent = "4G", at least 1 MiB: pinfoldd keeps unsent receipts until history.db has more than max_unsent bytes in use.
    /// If max_unsent is kInfinity, pinfoldd never removes a receipt that the archive does not have.
    std::uint64_t maxUnsent = 4'294'967'296;
    bool ask = false; ///< ask = true: the command line on this host asks the archive

    bool enabled() const { return !server.empty(); }
    bool serverIsSocket() const { return server.starts_with('/'); }
    bool operator==(const ArchiveConfig&) const = default;
};

} // namespace pinfold
