// SPDX-License-Identifier: LGPL-2.1-or-later
// Verbs that are about jobs that exist.
#pragma once

#include "base/error_code.hpp"
#include "cli/countdown.hpp"
#include "cli/output.hpp"
#include "client/manager_client.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct JobsStyle {
    bool several = false;   ///< there are other jobs, too: each failure is printed with its job
    bool pages = false;     ///< a page of text is printed for each job, and an empty line between two pages
    bool orProcess = false; ///< a number that is not the id of a live job is a process's id, and is left as it is
};

/// Handles the jobs as typed, one after the other, each by its key and with an output of its own. A failure for one job does not
/// stop the others. Returns the status of the first failure.
ExitStatus forEachJob(const VerbContext& context, const std::vector<std::string>& jobs, JobsStyle style,
                      const std::function<ExitStatus(const VerbContext& context, const std::string& key)>& handle);

/// A --timeout that is for all jobs together.
class SharedTimeout {
public:
    SharedTimeout(std::optional<std::uint64_t> timeout, std::size_t jobs)
        : timeout_(timeout), several_(jobs > 1), countdown_(timeout) {}

    /// For the job whose turn it is, in microseconds. Unset: there is no limit.
    std::optional<std::uint64_t> left() const;

private:
    std::optional<std::uint64_t> timeout_;
    bool several_;
    Countdown countdown_;
};

/// For --dry-run: prints what would be done to a live job. `what`: the words after "would".
ExitStatus sayWhatWouldBeDone(const VerbContext& context, const ManagerClient& client, const std::string& key,
                              const std::function<std::string(const JobInfo& job)>& what);

constexpr std::uint64_t kDefaultTimeout = 300'000'000; ///< microseconds to wait for a job's end

/// Ends a verb that waited for a job's end. The receipt is printed only with --json.
ExitStatus endWithReceipt(const VerbContext& context, const std::string& key, std::uint64_t timeout,
                          const Result<Receipt>& receipt);

} // namespace pinfold
