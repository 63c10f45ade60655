// SPDX-License-Identifier: LGPL-2.1-or-later
// Answers questions about jobs that are over, and takes the reports that come when a job is over.
#pragma once

#include "core/access/authorizer.hpp"
#include "core/core.hpp"
#include "core/history/history_writer.hpp"

#include <string>

namespace pinfold {

class PastJobs {
public:
    PastJobs(Core& core, HistoryWriter& historyWriter) : core_(core), historyWriter_(historyWriter) {}

    /// Answers with the receipt of the newest job of this key. A caller who is not an admin gets the caller's own newest job of
    /// this key. Errors: NoSuchJob; Denied; Busy if the history cannot be read.
    void newestReceipt(const Caller& caller, Action action, const std::string& key, Reply<Receipt> reply) const;

    /// Takes a batch system's report on how the job of `receipt` ended, if nobody had reported that when the receipt was written.
    /// A later run of the job may have the same key, and has no receipt if the run never came to pinfoldd. So the report changes
    /// only a receipt that is not old.
    void reportLate(const Caller& caller, const Receipt& receipt, const ExitState& exit, const Reply<Receipt>& reply);

private:
    Core& core_;
    HistoryWriter& historyWriter_;
};

} // namespace pinfold
