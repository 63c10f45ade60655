// SPDX-License-Identifier: LGPL-2.1-or-later
#include "daemon/options.hpp"

#include "base/escape.hpp"

#include <getopt.h>

#include <array>
#include <string>

namespace pinfold {

const char* const kDaemonUsage = "Usage: pinfoldd [--root DIR]\n"
                                 "\n"
                                 "Keeps each batch job of this node in its own systemd scope. systemd starts it:\n"
                                 "  systemctl start pinfoldd\n"
                                 "\n"
                                 "  --root DIR   put DIR before all paths that are read and written, for tests\n"
                                 "  --help       show this help\n"
                                 "  --version    show the version\n"
                                 "\n"
                                 "See pinfoldd(8), pinfold.toml(5).\n";

Result<DaemonOptions> parseDaemonOptions(int argc, char** argv) {
    DaemonOptions options;
    const std::array longOptions{option{"root", required_argument, nullptr, 'r'}, option{"help", no_argument, nullptr, 'h'},
                                 option{"version", no_argument, nullptr, 'v'}, option{nullptr, 0, nullptr, 0}};
    opterr = 0;
    for (int c = 0; (c = getopt_long(argc, argv, "", longOptions.data(), nullptr)) != -1;) {
        switch (c) {
        case 'r':
            options.root = optarg;
            break;
        case 'h':
            options.help = true;
            break;
        case 'v':
            options.version = true;
            break;
        default:
            return Error{ErrorCode::InvalidArgument,
                         "unknown option or missing value: '" + printable(argv[optind - 1]) + "'; see pinfoldd --help"};
        }
    }
    if (optind < argc)
        return Error{ErrorCode::InvalidArgument, "unexpected argument '" + printable(argv[optind]) + "'; see pinfoldd --help"};
    return options;
}

} // namespace pinfold
