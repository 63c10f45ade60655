// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run/options.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <getopt.h>

#include <array>
#include <cstring>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

enum Option { kJob = 'j', kExec = 256, kMemoryMax, kCpuQuota, kCpuWeight, kAllowedCpus, kTasksMax, kRunTimeMax, kHelp, kVersion };

constexpr std::array kOptions{
    option{"job", required_argument, nullptr, kJob},
    option{"exec", no_argument, nullptr, kExec},
    option{"memory-max", required_argument, nullptr, kMemoryMax},
    option{"cpu-quota", required_argument, nullptr, kCpuQuota},
    option{"cpu-weight", required_argument, nullptr, kCpuWeight},
    option{"allowed-cpus", required_argument, nullptr, kAllowedCpus},
    option{"tasks-max", required_argument, nullptr, kTasksMax},
    option{"run-time-max", required_argument, nullptr, kRunTimeMax},
    option{"help", no_argument, nullptr, kHelp},
    option{"version", no_argument, nullptr, kVersion},
    option{nullptr, 0, nullptr, 0},
};

template <class T> Result<void> assign(const char* name, Result<T> value, std::optional<T>& member) {
    if (!value)
        return Error{ErrorCode::InvalidArgument, std::string("--") + name + ": " + value.error().message};
    member = std::move(*value);
    return {};
}

Result<void> apply(int option, RunOptions& options) {
    auto& limits = options.limits;
    switch (option) {
    case kJob:
        options.key = optarg;
        return {};
    case kExec:
        options.inPlace = true;
        return {};
    case kMemoryMax:
        return assign("memory-max", parseSize(optarg), limits.memoryMax);
    case kCpuQuota:
        return assign("cpu-quota", parseCpuQuota(optarg), limits.cpuQuota);
    case kCpuWeight:
        return assign("cpu-weight", parseUnsigned(optarg), limits.cpuWeight);
    case kAllowedCpus:
        return assign("allowed-cpus", CpuList::parse(optarg), limits.allowedCpus);
    case kTasksMax:
        return assign("tasks-max", parseUnsigned(optarg), limits.tasksMax);
    case kRunTimeMax:
        return assign("run-time-max", parseDuration(optarg), limits.runTimeMax);
    case kHelp:
        options.help = true;
        return {};
    case kVersion:
        options.version = true;
        return {};
    default:
        return Error{ErrorCode::InvalidArgument, "internal: option without an action"};
    }
}

bool underOurName(const char* name) {
    const std::string_view path(name);
    return path.substr(path.rfind('/') + 1) == "pinfold-run";
}

} // namespace

const char* const kRunUsage = "Usage: pinfold-run [--job KEY] [LIMITS] [--exec] -- COMMAND [ARGS...]\n"
                              "\n"
                              "Runs a command as a batch job in its own systemd scope. Ends as the command\n"
                              "ended, after the last process it left behind is gone.\n"
                              "\n"
                              "  pinfold-run --job sge.4711 --memory-max 4G -- ./job.sh\n"
                              "\n"
                              "  -j, --job KEY         <scheduler>.<id>; default: pinfoldd picks manual.<n>\n"
                              "      --exec            become the job in place, don't stay as its supervisor\n"
                              "      --memory-max SIZE     bytes, or with K, M, G, T\n"
                              "      --cpu-quota PERCENT   of one CPU: 150%\n"
                              "      --cpu-weight N        1 to 10000\n"
                              "      --allowed-cpus LIST   0-3,8\n"
                              "      --tasks-max N         processes and threads\n"
                              "      --run-time-max TIME   2h 30min\n"
                              "      --help, --version\n"
                              "\n"
                              "Exit status: the command's own; 125 pinfold-run failed, 126 the command can't\n"
                              "be executed, 127 it was not found. See pinfold-run(1).\n";

Result<RunOptions> parseRunOptions(int argc, char** argv) {
    RunOptions options;
    int first = 1;
    if (argc > 0 && underOurName(argv[0])) {
        opterr = 0;
        for (int c = 0; (c = getopt_long(argc, argv, "+:j:", kOptions.data(), nullptr)) != -1;) {
            // optopt is 0 for a long option that is not known, and then the word itself says it best.
            if (c == ':')
                return Error{ErrorCode::InvalidArgument,
                             "option '" + printable(argv[optind - 1], 100) + "' needs a value; see pinfold-run --help"};
            if (c == '?')
                return Error{ErrorCode::InvalidArgument,
                             "unknown option '" + printable(argv[optind - 1], 100) + "'; see pinfold-run --help"};
            if (auto applied = apply(c, options); !applied)
                return applied.error();
        }
        first = optind;
    }
    if (options.help || options.version)
        return options;
    if (first >= argc)
        return Error{ErrorCode::InvalidArgument, "no command to run; see pinfold-run --help"};
    options.command = argv + first;
    return options;
}

} // namespace pinfold
