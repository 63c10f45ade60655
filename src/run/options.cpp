// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run/options.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <getopt.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace pinfold {
namespace {

enum Option {
    kJob = 'j',
    kExec = 256,
    kTask,
    kBatch,
    kHelp,
    kVersion,
    kCpus,
    kGpus,
    kCpuList,
    kGpuList,
    kExclusive,
    kFirstLimit
};

/// The table for getopt_long(3). It contains our own options first, and then one option for each limit, in the order of
/// limitTable().
class OptionTable {
public:
    OptionTable() {
        for (const auto& row : limitTable())
            names_.push_back(limitOption(row.name).substr(2));
        options_ = {{"job", required_argument, nullptr, kJob},
                    {"exec", no_argument, nullptr, kExec},
                    {"task", no_argument, nullptr, kTask},
                    {"batch", no_argument, nullptr, kBatch},
                    {"help", no_argument, nullptr, kHelp},
                    {"version", no_argument, nullptr, kVersion},
                    {"cpus", required_argument, nullptr, kCpus},
                    {"gpus", required_argument, nullptr, kGpus},
                    {"cpu-list", required_argument, nullptr, kCpuList},
                    {"gpu-list", required_argument, nullptr, kGpuList},
                    {"exclusive", no_argument, nullptr, kExclusive}};
        for (std::size_t i = 0; i < names_.size(); ++i)
            options_.push_back({names_[i].c_str(), required_argument, nullptr, kFirstLimit + static_cast<int>(i)});
        options_.push_back({nullptr, 0, nullptr, 0});
    }
    const option* data() const { return options_.data(); }

private:
    std::vector<std::string> names_;
    std::vector<option> options_;
};

Result<void> count(const char* option, std::optional<std::uint64_t>& member) {
    const auto number = parseUnsigned(optarg);
    if (!number || *number == 0)
        return Error{ErrorCode::InvalidArgument,
                     std::string(option) + ": '" + printable(optarg, 100) + "' is not valid: use a number from 1 on"};
    member = *number;
    return {};
}

Result<void> list(const char* option, std::optional<CpuList>& member) {
    auto set = setLimitText(optarg, member);
    return set ? set : Error{ErrorCode::InvalidArgument, std::string(option) + ": " + set.error().message};
}

Result<void> apply(int option, RunOptions& options) {
    switch (option) {
    case kJob:
        options.key = optarg;
        return {};
    case kExec:
        options.inPlace = true;
        return {};
    case kTask:
        options.role = WrapperRole::Task;
        return {};
    case kBatch:
        options.role = WrapperRole::Batch;
        return {};
    case kHelp:
        options.help = true;
        return {};
    case kVersion:
        options.version = true;
        return {};
    case kCpus:
        return count("--cpus", options.allocation.cpus);
    case kGpus:
        return count("--gpus", options.allocation.gpus);
    case kCpuList:
        return list("--cpu-list", options.allocation.cpuList);
    case kGpuList:
        return list("--gpu-list", options.allocation.gpuList);
    case kExclusive:
        options.allocation.exclusive = true;
        return {};
    default:
        break;
    }
    const auto& row = limitTable()[static_cast<std::size_t>(option - kFirstLimit)];
    if (auto set = setLimit(options.limits, row.name, optarg); !set)
        return Error{ErrorCode::InvalidArgument, limitOption(row.name) + ": " + set.error().message};
    return {};
}

bool underOurName(const char* name) {
    const std::string_view path(name);
    return path.substr(path.rfind('/') + 1) == "pinfold-run";
}

/// A role other than Job must not have limits: its job got them when it was created or opened.
Result<void> consistent(const RunOptions& options) {
    if (options.role == WrapperRole::Job)
        return {};
    if (options.key.empty())
        return Error{ErrorCode::InvalidArgument, "--task and --batch need --job KEY"};
    if (options.limits != ResourceLimits{} || !options.allocation.empty())
        return Error{
            ErrorCode::InvalidArgument,
            "--task and --batch take no limits: the job has the limits that `pinfold open` or its first pinfold-run gave it"};
    return {};
}

} // namespace

WrapperCreate createRequest(const RunOptions& options) {
    return {.key = options.key,
            .limits = options.limits,
            .allocation = options.allocation,
            .role = options.role,
            .owner = options.owner,
            .slots = options.slots,
            .shepherd = options.shepherd};
}

std::string runUsage() {
    std::string text = "Usage: pinfold-run [--job KEY] [OPTIONS] [LIMITS] [--exec] -- COMMAND [ARGS...]\n"
                       "\n"
                       "Runs a command as a batch job in its own systemd scope. Exits when the command\n"
                       "and all processes that it left behind have ended.\n"
                       "\n"
                       "  pinfold-run --job sge.4711 --memory-max 4G -- ./job.sh\n"
                       "\n"
                       "  -j, --job KEY   the job's key <scheduler>.<id> (default: manual.<n>)\n"
                       "      --exec      become the job itself, in place of staying as its supervisor\n"
                       "      --batch     run the batch script of job KEY, which was opened before\n"
                       "      --task      run another task of job KEY, which is live\n"
                       "      --help      show this help\n"
                       "      --version   show the version\n"
                       "\n"
                       "CPUs and GPUs that no other job gets:\n"
                       "  --cpus N                  reserve whole cores with at least N CPUs\n"
                       "  --gpus N                  reserve N GPUs\n"
                       "  --cpu-list LIST           reserve these CPUs, which the batch system has chosen\n"
                       "  --gpu-list LIST           reserve these GPUs, numbered from 0\n"
                       "  --exclusive               reserve all CPUs, and allow no other job on the node\n"
                       "\n"
                       "Limits:\n";
    for (const auto& row : limitTable()) {
        const auto name = limitOption(row.name);
        text += "  " + name + std::string(26 - name.size(), ' ') + row.help + "\n";
    }
    return text + "\n"
                  "Exit status: the command's own; 125 pinfold-run failed, 126 the command cannot\n"
                  "be executed, 127 it was not found. See pinfold-run(1).\n";
}

Result<RunOptions> parseRunOptions(int argc, char** argv) {
    RunOptions options;
    const OptionTable table;
    int first = 1;
    if (argc > 0 && underOurName(argv[0])) {
        opterr = 0;
        for (int c = 0; (c = getopt_long(argc, argv, "+:j:", table.data(), nullptr)) != -1;) {
            // optopt is 0 for an unknown long option, so the message quotes the word itself.
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
    if (auto valid = consistent(options); !valid)
        return valid.error();
    options.command = argv + first;
    return options;
}

} // namespace pinfold
