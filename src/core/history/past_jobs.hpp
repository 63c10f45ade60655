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

    /// Answers with the receipt of the newest job with the key `key`. If the caller may not ask about the jobs of all users,
    /// newestReceipt() considers only the caller's own jobs. The errors are NoSuchJob and Denied, and also Busy if the history
    /// cannot be read.
    void newestReceipt(const Caller& caller, Action action, const std::string& key, Reply<Receipt> reply) const;

    /// Answers with the receipts that match the filter. The error is Denied if the caller may not see the receipts of the
    /// filter's user.
    void receipts(const Caller& caller, ReceiptFilter filter, Reply<std::vector<Receipt>> reply) const;

    /// Answers with the profile of the job whose receipt newestReceipt() returns. The errors are those of newestReceipt(), and
    /// InvalidArgument if a newer pinfold has written the profile.
    void profile(const Caller& caller, const std::string& key, Reply<Profile> reply) const;

    /// Handles a batch system's report on how the job of `receipt` ended, if the receipt was written without an exit state. The
    /// batch system may report the end of a later run of the job with the same key. If pinfoldd never saw the later run, the
    /// later run has no receipt. The report on the later run must not change the receipt of the earlier run. reportLate() does
    /// not change a receipt that is too old.
    void reportLate(const Caller& caller, const Receipt& receipt, const EndReport& report, const Reply<Receipt>& reply);

private:
    Core& core_;
    HistoryWriter& historyWriter_;
};

} // namespace pinfold
