// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares what all verbs for existing jobs have in common.
#pragma once

#include "base/clock.hpp"
#include "base/error_code.hpp"
#include "bus_client/manager_client.hpp"
#include "cli/countdown.hpp"
#include "cli/output.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct JobsStyle {
    bool several = false;   ///< the command line has several jobs, so each error message says which job the error concerns
    bool pages = false;     ///< the verb prints a page of text for each job, and an empty line between two pages
    bool orProcess = false; ///< the user can give a process id, and `handle` gets this id in place of a key
};

/// Calls `handle` once for each job on the command line. The argument `key` of `handle` is the key of the job. The output has a
/// separate part for each job. If `handle` fails for one job, forEachJob() continues with the next job. Returns the exit status
/// of the first job that failed, or Ok if no job failed.
ExitStatus forEachJob(const VerbContext& context, const std::vector<std::string>& jobs, JobsStyle style,
                      const std::function<ExitStatus(const VerbContext& context, const std::string& key)>& handle);

/// Divides one --timeout among several jobs.
class SharedTimeout {
public:
    SharedTimeout(std::optional<Microseconds> timeout, std::size_t jobs)
        : timeout_(timeout), several_(jobs > 1), countdown_(timeout) {}

    /// Returns the longest time for which the command waits for the next job, or nullopt if the user has set no time limit.
    std::optional<Microseconds> left() const;

private:
    std::optional<Microseconds> timeout_;
    bool several_;
    Countdown countdown_;
};

/// Prints what the verb would do to a live job, for --dry-run. The line says "would", followed by the text that `what` returns.
ExitStatus sayWhatWouldBeDone(const VerbContext& context, const ManagerClient& client, const std::string& key,
                              const std::function<std::string(const JobInfo& job)>& what);

constexpr Microseconds kDefaultTimeout = 5min; ///< how long a verb waits for a job's end by default

/// A verb calls endWithReceipt() after its wait for the end of a job. If the wait failed, endWithReceipt() prints the error. With
/// --json, endWithReceipt() prints the job's receipt. Returns the exit status of the verb.
ExitStatus endWithReceipt(const VerbContext& context, const std::string& key, Microseconds timeout,
                          const Result<Receipt>& receipt);

} // namespace pinfold
