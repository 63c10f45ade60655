// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes events into the journal for admins, and counts the events. events.hpp has one function for each kind of event. Each
// function in events.hpp writes the text and the fields of its event, and increases the event's counter.
#pragma once

#include "core/context.hpp"
#include "core/job.hpp"
#include "model/drain.hpp"
#include "model/reconciliation.hpp"
#include "os/process.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

void logJobStarted(const CoreContext& context, const Job& job);
void logJobEnded(const CoreContext& context, const Job& job, const Receipt& receipt);
void logReceiptAmended(const CoreContext& context, const Receipt& receipt);

/// Writes a warning that the task has left `count` processes behind, and one line for each process in `named`. The warning
/// begins with the words "rogue process(es) found for task", because many sites search the logs of Grid Engine for these words.
void logLeftovers(const CoreContext& context, const Job& job, std::uint32_t task, std::uint64_t count,
                  const std::vector<ProcessInfo>& named);

/// Writes to the journal how many leftovers LeftoverLog has left out to stay within LeftoverLog::kMostBytes. The leftovers are
/// processes that the jobs of `user` left behind.
void logLeftoversUnsaid(const CoreContext& context, uid_t user, std::uint64_t processes);

void logLimitUnenforced(const CoreContext& context, const JobKey& key, const std::string& message);
/// Writes to the journal that `count` processes of the job have not ended after SIGKILL. logUnkillable() writes one more journal
/// entry for each process in `named`.
void logUnkillable(const CoreContext& context, const Job& job, std::size_t count, const std::vector<ProcessInfo>& named);

void logOutOfMemory(const CoreContext& context, const Job& job, std::optional<std::uint64_t> peak);
/// Writes to the journal that the job is near its limit `limit`. `words` says how near the limit is, for example "reaches its
/// run time limit of 2h in 5min".
void logLimitNear(const CoreContext& context, const Job& job, const std::string& limit, const std::string& words);
void logLimitsChanged(const CoreContext& context, const Job& job, uid_t by, const ResourceLimits& before);
void logSuspension(const CoreContext& context, const Job& job, bool suspended, uid_t by);

/// The argument `by` is the user who asked pinfoldd to remove receipts. If pinfoldd removed the receipts without a request,
/// `by` is unset.
void logHistoryVacuumed(const CoreContext& context, const Vacuumed& done, std::optional<uid_t> by);
void logVacuumFailed(const CoreContext& context, const Vacuumed& before, const std::string& why);

/// The journal entry of logHistoryFailing() says that receipts cannot be written. The journal entry of logHistoryWorks() says
/// that receipts can be written again. The argument `late` is the number of receipts that had been set aside and are in the
/// history now.
void logHistoryFailing(const CoreContext& context, const std::string& why);
void logHistoryWorks(const CoreContext& context, std::uint64_t late);
/// Writes a journal entry about lost receipts. pinfoldd drops receipts if too many receipts wait to be written. The receipt
/// `first` is lost now, and more receipts can be lost later.
void logReceiptsDropped(const CoreContext& context, const Receipt& first);
void logHistoryDamaged(const CoreContext& context, const std::string& words);
/// Writes to the journal that the node's clock has jumped far ahead. After a jump of the clock, pinfoldd keeps old receipts until
/// the clock has been right for a day.
void logClockDoubted(const CoreContext& context);

/// Writes one journal entry for each orphan, and one journal entry for each record that pinfoldd cannot read.
void logReconciled(const CoreContext& context, const Reconciliation& found);

void logDrained(const CoreContext& context, const Drain& drain);
void logUndrained(const CoreContext& context, uid_t by);
void logDrainUnreadable(const CoreContext& context, const std::string& message);

/// Writes to the journal that the node is being shut down. The argument `jobs` is the number of jobs that end now.
void logShutdown(const CoreContext& context, std::size_t jobs);
/// Writes a journal entry about the receipt that pinfoldd has made for a lost job. A job is lost if the job ran in an earlier
/// boot, or if all units and processes of the job have disappeared.
void logJobLost(const CoreContext& context, const JobKey& key, const Receipt& receipt);

void logUnreadableRecord(const CoreContext& context, const std::string& fileAndReason);

/// Writes a warning about the node to the journal.
void logNodeWarning(const CoreContext& context, const std::string& message);

/// Writes a warning about the job to the journal.
void logWarning(const CoreContext& context, const JobKey& key, const std::string& message, Trouble about = Trouble::Other);

} // namespace pinfold
