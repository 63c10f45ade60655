// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/options.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <fmt/format.h>

#include <getopt.h>

#include <array>
#include <string>

namespace pinfold {

const char* const kArchiveServiceUsage =
    "Usage: pinfold-archive [--root DIR] [--exit-idle-time TIME]\n"
    "\n"
    "Answers the questions of pinfold on this host from the site's archive of receipts. systemd starts it:\n"
    "  systemctl enable --now pinfold-archive.socket\n"
    "\n"
    "  --root DIR              put DIR before all paths of the configuration, for tests\n"
    "  --exit-idle-time TIME   exit after this time without a connection (default 5min)\n"
    "  --help                  show this help\n"
    "  --version               show the version\n"
    "\n"
    "See pinfold-archive(8), pinfold.toml(5).\n";

Result<ArchiveServiceOptions> parseArchiveServiceOptions(int argc, char** argv) {
    ArchiveServiceOptions options;
    const std::array longOptions{
        option{"root", required_argument, nullptr, 'r'}, option{"exit-idle-time", required_argument, nullptr, 'i'},
        option{"help", no_argument, nullptr, 'h'}, option{"version", no_argument, nullptr, 'v'}, option{nullptr, 0, nullptr, 0}};
    opterr = 0;
    for (int c = 0; (c = getopt_long(argc, argv, "", longOptions.data(), nullptr)) != -1;) {
        switch (c) {
        case 'r':
            options.root = optarg;
            break;
        case 'i': {
            const auto idle = parseDuration(optarg);
            if (!idle)
                return Error{ErrorCode::InvalidArgument, "--exit-idle-time: " + idle.error().message};
            options.idle = *idle;
            break;
        }
        case 'h':
            options.help = true;
            break;
        case 'v':
            options.version = true;
            break;
        default:
            return Error{
                ErrorCode::InvalidArgument,
                fmt::format("unknown option or missing value: '{}'; see pinfold-archive --help", printable(argv[optind - 1]))};
        }
    }
    if (optind < argc)
        return Error{ErrorCode::InvalidArgument,
                     fmt::format("unexpected argument '{}'; see pinfold-archive --help", printable(argv[optind]))};
    return options;
}

} // namespace pinfold
