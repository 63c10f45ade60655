// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers questions about jobs that are over, and handles reports that come after the end of a job.
#pragma once

#include "core/access/authorizer.hpp"
#include "core/core.hpp"
#include "core/history/history_writer.hpp"

#include <string>

namespace pinfold {

class PastJobs {
public:
    PastJobs(Core& core, HistoryWriter& historyWriter) : core_(core), historyWriter_(historyWriter) {}

    /// Answers with the receipt of the newest job with the key `key`. Without the right to see the jobs of all users, the caller
    /// gets only receipts of the caller's own jobs. newestReceipt() fails with NoSuchJob, Denied or Busy. The error is Busy if
    /// the history cannot be read.
    void newestReceipt(const Caller& caller, Action action, const std::string& key, Reply<Receipt> reply) const;

    /// Answers with the receipts that match the filter. If the filter names a user whose receipts the caller is not allowed to
    /// see, the error is Denied.
    void receipts(const Caller& caller, ReceiptFilter filter, Reply<std::vector<Receipt>> reply) const;

    /// Answers with the profile of the job whose receipt newestReceipt() returns. profile() can fail with every error of
    /// newestReceipt(). The error is InvalidArgument if a newer pinfold has written the profile.
    void profile(const Caller& caller, const std::string& key, Reply<Profile> reply) const;

    /// Handles a batch system's late report on the end of a job. The argument `receipt` is the job's receipt, which pinfoldd
    /// wrote before the report came. If the receipt lacks facts that the report contains, reportLate() adds the facts to the
    /// receipt. A batch system can run a job a second time with the key of the first run. If pinfoldd never saw a job's second
    /// run, the second run has no receipt. The report on a job's second run must not change the receipt of the job's first run.
    /// reportLate() does not change the receipt of a job that ended more than an hour ago.
    void reportLate(const Caller& caller, const Receipt& receipt, const EndReport& report, const Reply<Receipt>& reply);

private:
    Core& core_;
    HistoryWriter& historyWriter_;
};

} // namespace pinfold
