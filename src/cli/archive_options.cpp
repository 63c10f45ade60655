// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/archive_options.hpp"

#include "cli/common_options.hpp"

namespace pinfold {
namespace {

constexpr std::uint64_t kLastPort = 65535;

} // namespace

OptionSet archiveOptions(ArchiveOptions& options) {
    return {{.name = "ACTION",
             .help = "what to do with the archive, as pinfold(1) describes",
             .set = into(options.action),
             .words = {"init", "upgrade", "status", "prune"},
             .required = true},
            {.name = "--host",
             .value = "HOST",
             .help = "the name of the server, or the directory of its socket (default: the socket on this host)",
             .set = into(options.host)},
            {.name = "--port",
             .value = "PORT",
             .help = "the port of the server (default: 5432)",
             .set = into(options.port, numberFrom(1, kLastPort))},
            {.name = "--database", .value = "NAME", .help = "the database (default: pinfold)", .set = into(options.database)},
            {.name = "--user",
             .value = "ROLE",
             .help = "the user of the database (default: postgres); pinfold_reader suffices for status",
             .set = into(options.user)},
            {.name = "--certificate",
             .value = "FILE",
             .help = "the certificate that the server of --host sees (default: /etc/pinfold/archive/node.crt)",
             .set = into(options.certificate)},
            {.name = "--key",
             .value = "FILE",
             .help = "the private key of the certificate (default: /etc/pinfold/archive/node.key)",
             .set = into(options.key)},
            {.name = "--ca",
             .value = "FILE",
             .help = "the CA that signed the server's certificate (default: /etc/pinfold/archive/ca.crt)",
             .set = into(options.ca)},
            {.name = "--older-than",
             .value = "TIME",
             .help = "prune: remove the receipts of jobs that ended longer ago than this, such as 400d",
             .set = into(options.olderThan, durationFrom(24h, kForever - 1us, "time", "from 1d on, such as 400d"))},
            {.name = "--sql",
             .value = "DIR",
             .help = "init and upgrade: the directory of the SQL files (default: as installed)",
             .set = into(options.sql),
             .offer = Offer::Directories}};
}

} // namespace pinfold
