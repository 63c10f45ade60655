// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/service_options.hpp"

#include "base/escape.hpp"
#include "build_config.hpp"

#include <getopt.h>

namespace pinfold {
namespace {

constexpr int kUsage = 2;
constexpr int kFirstOwn = 256; // for the option program.options[N], getopt_long(3) returns kFirstOwn + N

std::vector<option> tableOf(const ServiceProgram& program) {
    std::vector<option> table{
        {"root", required_argument, nullptr, 'r'}, {"help", no_argument, nullptr, 'h'}, {"version", no_argument, nullptr, 'v'}};
    for (const auto& own : program.options)
        table.push_back({own.name, own.takesValue ? required_argument : no_argument, nullptr,
                         kFirstOwn + static_cast<int>(&own - program.options.data())});
    table.push_back({nullptr, 0, nullptr, 0});
    return table;
}

EarlyExit usageError(const ServiceProgram& program, const std::string& what) {
    return {kUsage, program.name + ": " + what + "; see " + program.name + " --help\n"};
}

} // namespace

std::variant<ServiceOptions, EarlyExit> parseServiceOptions(int argc, char** argv, const ServiceProgram& program) {
    ServiceOptions options;
    const auto table = tableOf(program);
    optind = 0; // the value 0 tells glibc's getopt_long(3) that a new command line begins
    opterr = 0;
    // The '+' makes getopt_long(3) stop at the first word that is not an option. Without the '+', getopt_long(3) would change the
    // order of the words, and argv[at] would not always be the next word.
    for (int at = 1, c = 0; (c = ::getopt_long(argc, argv, "+", table.data(), nullptr)) != -1; at = optind) {
        if (c == 'h')
            return EarlyExit{0, program.usage};
        if (c == 'v')
            return EarlyExit{0, program.name + " " PINFOLD_VERSION "\n"};
        if (c == '?')
            return usageError(program, "unknown option or missing value: '" + printable(argv[at], 100) + "'");
        if (c == 'r') {
            options.root = optarg;
            continue;
        }
        const auto& own = program.options[static_cast<std::size_t>(c - kFirstOwn)];
        if (const auto set = own.set(own.takesValue ? optarg : ""); !set)
            return usageError(program, std::string("--") + own.name + ": " + set.error().message);
    }
    if (optind < argc)
        return usageError(program, "unexpected argument '" + printable(argv[optind], 100) + "'");
    return options;
}

} // namespace pinfold
