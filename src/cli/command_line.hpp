// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line as typed values. A comment such as "history: -S" names the verb that uses a value, and the option.
#pragma once

#include "base/result.hpp"
#include "cli/terminal.hpp"
#include "config/strays_config.hpp"
#include "model/allocation.hpp"
#include "model/receipt.hpp"
#include "model/resource_limits.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace pinfold {

struct TopOptions {
    std::string sort = "cpu";        ///< one of sortNames() of top_rows.hpp
    bool batch = false;              ///< -b
    std::uint64_t iterations = 0;    ///< -n; 0: until it is ended
    std::uint64_t delay = 1'000'000; ///< -d, microseconds, kLeastDelay to kMostDelay
    static constexpr std::uint64_t kLeastDelay = 100'000;
    static constexpr std::uint64_t kMostDelay = 3'600'000'000;
};

struct StraysOptions {
    std::optional<StraysMode> mode = StraysMode::Report;      ///< unset: "configured", which is the site's mode
    std::vector<std::function<void(StraysConfig&)>> settings; ///< values of other options, which replace the site's [strays]
    bool files = false;                                       ///< look for files, not for processes
    bool remove = false;                                      ///< remove files
};

struct CommandLine {
    static constexpr std::uint64_t kDefaultTimeout = 300'000'000; ///< microseconds to wait for a job's end

    std::string verb;

    // For every verb:
    bool json = false;
    bool legend = true;
    bool rawBytes = false; ///< --bytes
    TerminalOptions terminal;

    std::string job;                    ///< JOB, for status also a PID; empty: the verb is about the node
    std::vector<std::string> jobs;      ///< JOB... of a verb that takes several; see doForEachJob()
    std::vector<std::string> arguments; ///< adopt: PID...; open: --adopt
    bool dryRun = false;

    std::optional<std::string> user;           ///< list, top, history: -u; open: --uid
    std::optional<std::string> owner;          ///< adopt, open: the owner of the processes
    std::optional<std::string> state;          ///< list
    bool withJobs = false;                     ///< status: --jobs
    std::vector<std::string> columns;          ///< list: -o
    std::string sort = "key";                  ///< list
    std::vector<std::string> properties;       ///< show: -p
    bool valueOnly = false;                    ///< show
    std::string signal = "TERM";               ///< kill: -s
    std::optional<std::uint64_t> grace;        ///< stop, microseconds
    bool wait = false;                         ///< stop, drain
    std::optional<std::uint64_t> timeout;      ///< stop --wait, end, drain --wait, microseconds
    std::string reason;                        ///< drain
    std::optional<std::string> since;          ///< history: -S
    std::optional<std::string> until;          ///< history: -E
    std::uint32_t limit = 100;                 ///< history: -n
    bool parsable = false;                     ///< history, strays: -P
    std::optional<std::string> result;         ///< history
    std::optional<std::string> scheduler;      ///< history
    bool failed = false;                       ///< history
    bool unknown = false;                      ///< history
    bool leftovers = false;                    ///< history
    std::optional<std::uint64_t> maxAge;       ///< vacuum, microseconds
    std::optional<std::uint64_t> maxSize;      ///< vacuum, bytes
    bool follow = false;                       ///< logs: -f
    std::optional<std::uint32_t> lines;        ///< logs: -n
    std::string root = "/";                    ///< check-config, config
    bool inPlace = false;                      ///< run
    ResourceLimits limits;                     ///< run --dry-run, open, limits
    AllocationRequest allocation;              ///< run --dry-run, open
    std::optional<std::uint64_t> slots;        ///< open
    std::optional<std::uint64_t> linger;       ///< open, microseconds
    std::optional<std::uint64_t> reportWithin; ///< open, microseconds
    ExitState exit;                            ///< end
    bool batch = false;                        ///< adopt, open
    bool replace = false;                      ///< open
    bool force = false;                        ///< limits
    TopOptions top;
    StraysOptions strays;
};

/// Text to print and the status to exit with, in place of a verb (help, usage errors).
struct EarlyExit {
    int status = 0;
    std::string text;
};

std::variant<CommandLine, EarlyExit> parseCommandLine(int argc, char** argv);

} // namespace pinfold
