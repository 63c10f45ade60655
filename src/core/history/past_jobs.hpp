// SPDX-License-Identifier: LGPL-2.1-or-later
// PastJobs answers questions about jobs that are over, and takes reports that come afterwards.
#pragma once

#include "core/access/authorizer.hpp"
#include "core/core.hpp"
#include "core/history/history_writer.hpp"

#include <string>

namespace pinfold {

class PastJobs {
public:
    PastJobs(Core& core, HistoryWriter& historyWriter) : core_(core), historyWriter_(historyWriter) {}

    /// Answers with the receipt of the newest job of this key, or of the caller's newest one if the caller is not an admin.
    /// Errors: NoSuchJob; Denied; Busy, the history cannot be read.
    void newestReceipt(const Caller& caller, Action action, const std::string& key, Reply<Receipt> reply) const;

    /// Takes a batch system's report on an end that nobody had reported when the receipt was written. A later run of the job may
    /// have the same key, and no receipt yet if that run never came here. So the report changes only a receipt that is not old.
    void reportLate(const Caller& caller, const Receipt& receipt, const ExitState& exit, const Reply<Receipt>& reply);

private:
    Core& core_;
    HistoryWriter& historyWriter_;
};

} // namespace pinfold
