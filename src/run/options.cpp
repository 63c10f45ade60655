// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run/options.hpp"

#include "base/escape.hpp"
#include "options/help.hpp"
#include "options/words.hpp"

#include <getopt.h>

#include <array>
#include <string_view>
#include <vector>

namespace pinfold {
namespace {

// getopt_long(3) returns kFirstLong for the first long option. kFirstLong is higher than the code of every character.
constexpr int kFirstLong = 256;

/// Holds pinfold-run's options in the form that getopt_long(3) needs.
class GetoptTable {
public:
    explicit GetoptTable(const OptionSet& options) : options_(options) {
        for (const auto& option : options) {
            const int value = option.isFlag() ? no_argument : required_argument;
            long_.push_back({option.name.c_str() + 2, value, nullptr, kFirstLong + static_cast<int>(long_.size())});
            if (option.letter != 0)
                letters_ += option.letter + std::string(option.isFlag() ? "" : ":");
        }
        long_.push_back({nullptr, 0, nullptr, 0});
    }

    int next(int argc, char** argv) const { return getopt_long(argc, argv, letters_.c_str(), long_.data(), nullptr); }

    const Option& found(int code) const {
        if (code >= kFirstLong)
            return options_[static_cast<std::size_t>(code - kFirstLong)];
        return *findOption(options_, {std::array{'-', static_cast<char>(code)}.data(), 2});
    }

private:
    const OptionSet& options_;
    std::vector<option> long_;
    // The character '+' makes getopt_long(3) stop at the command. The character ':' makes getopt_long(3) return ':' if the value
    // of an option is missing.
    std::string letters_ = "+:";
};

bool underOurName(const char* name) {
    const std::string_view path(name);
    return path.substr(path.rfind('/') + 1) == "pinfold-run";
}

/// Refuses options that exclude each other. Limits are allowed only for the role Job, because in all other roles the job already
/// exists and has its limits.
Result<void> consistent(const RunOptions& options) {
    if (options.role == WrapperRole::Job)
        return {};
    if (options.key.empty())
        return Error{ErrorCode::InvalidArgument, "--task and --batch need --job KEY"};
    if (!options.labels.empty())
        return Error{ErrorCode::InvalidArgument,
                     "--task and --batch take no --label: the job got its labels when it was created"};
    if (options.limits != ResourceLimits{} || !options.allocation.empty())
        return Error{
            ErrorCode::InvalidArgument,
            "--task and --batch take no limits: the job has the limits that `pinfold open` or its first pinfold-run gave it"};
    return {};
}

} // namespace

WrappedCommand wrappedCommand(const RunOptions& options) {
    return {.request = {.key = options.key,
                        .limits = options.limits,
                        .allocation = options.allocation,
                        .role = options.role,
                        .identity = {.labels = options.labels}},
            .command = options.command};
}

OptionSet runOptions(RunOptions& options) {
    auto set = jobOptions(options);
    append(set, {{.name = "--help", .help = "show this help", .set = into(options.help)},
                 {.name = "--version", .help = "show the version", .set = into(options.version)}});
    return set;
}

std::string runUsage() {
    RunOptions options;
    return "Usage: pinfold-run [OPTIONS] -- COMMAND [ARGS...]\n"
           "\n"
           "Runs a command as a batch job in its own systemd scope. Exits when the command\n"
           "and all processes that it left behind have ended.\n"
           "\n"
           "  pinfold-run --job sge.4711 --memory-max 4G -- ./job.sh\n" +
           optionsHelp(runOptions(options)) +
           "\n"
           "Exit status: the command's own; 125 pinfold-run failed, 126 the command cannot\n"
           "be executed, 127 it was not found. See pinfold-run(1).\n";
}

Result<RunOptions> parseRunOptions(int argc, char** argv) {
    RunOptions options;
    const auto set = runOptions(options);
    const GetoptTable table(set);
    int first = 1;
    if (argc > 0 && underOurName(argv[0])) {
        opterr = 0;
        for (int c = 0; (c = table.next(argc, argv)) != -1;) {
            // For an unknown long option, optopt is 0, and the message quotes the word that the user typed.
            if (c == ':')
                return Error{ErrorCode::InvalidArgument,
                             "option '" + printable(argv[optind - 1], 100) + "' needs a value; see pinfold-run --help"};
            if (c == '?')
                return Error{ErrorCode::InvalidArgument, "unknown option '" + printable(argv[optind - 1], 100) + "'" +
                                                             suggestion(argv[optind - 1], namesOf(set)) +
                                                             "; see pinfold-run --help"};
            if (auto applied = apply(table.found(c), optarg ? optarg : ""); !applied)
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
