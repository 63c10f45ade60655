// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the common parts of verbs that handle existing jobs.
#pragma once

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
    bool several = false;   ///< there are other jobs, too, so each failure is printed with its job
    bool pages = false;     ///< each job prints a page of text, with an empty line between two pages
    bool orProcess = false; ///< a number that is not the id of a live job is a process id, and stays as it is
};

/// Handles the jobs that the user typed, one after the other. Each job is handled by its key, and has its own output. A failure
/// for one job does not stop the others. Returns the status of the first failure.
ExitStatus forEachJob(const VerbContext& context, const std::vector<std::string>& jobs, JobsStyle style,
                      const std::function<ExitStatus(const VerbContext& context, const std::string& key)>& handle);

/// Is a --timeout for all jobs together.
class SharedTimeout {
public:
    SharedTimeout(std::optional<std::uint64_t> timeout, std::size_t jobs)
        : timeout_(timeout), several_(jobs > 1), countdown_(timeout) {}

    /// Returns the microseconds for the job that has its turn, or nullopt if there is no limit.
    std::optional<std::uint64_t> left() const;

private:
    std::optional<std::uint64_t> timeout_;
    bool several_;
    Countdown countdown_;
};

/// Does --dry-run: prints what the verb would do to a live job. `what` is the text after "would".
ExitStatus sayWhatWouldBeDone(const VerbContext& context, const ManagerClient& client, const std::string& key,
                              const std::function<std::string(const JobInfo& job)>& what);

constexpr std::uint64_t kDefaultTimeout = 300'000'000; ///< microseconds to wait for a job's end

/// Ends a verb that waited for a job's end. Prints the receipt only with --json.
ExitStatus endWithReceipt(const VerbContext& context, const std::string& key, std::uint64_t timeout,
                          const Result<Receipt>& receipt);

} // namespace pinfold
