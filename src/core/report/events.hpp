// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes and counts the events that an admin searches the journal for. Each event has one function. The texts, fields and counts
// of all events are in one place.
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

/// Writes a warning that the task has left `count` processes behind, and one line for each process in `named`. The
/// warning has the text of Grid Engine, "rogue process(es) found for task", because sites search their logs for this text.
void logLeftovers(const CoreContext& context, const Job& job, std::uint32_t task, std::uint64_t count,
                  const std::vector<ProcessInfo>& named);

/// Writes how many leftovers of the user's jobs LeftoverLog did not name in the journal.
void logLeftoversUnsaid(const CoreContext& context, uid_t user, std::uint64_t processes);

void logLimitUnenforced(const CoreContext& context, const JobKey& key, const std::string& message);
/// Writes one entry for the job, and one entry for each process in `named`. `count` processes of the job have outlived SIGKILL.
void logUnkillable(const CoreContext& context, const Job& job, std::size_t count, const std::vector<ProcessInfo>& named);

void logOutOfMemory(const CoreContext& context, const Job& job, std::optional<std::uint64_t> peak);
void logLimitsChanged(const CoreContext& context, const Job& job, uid_t by, const ResourceLimits& before);
void logSuspension(const CoreContext& context, const Job& job, bool suspended, uid_t by);

/// `by` is the user who asked pinfoldd to remove receipts. `by` is unset if pinfoldd removed receipts by itself.
void logHistoryVacuumed(const CoreContext& context, const Vacuumed& done, std::optional<uid_t> by);
void logVacuumFailed(const CoreContext& context, std::uint64_t removed, const std::string& why);

/// Writes that receipts cannot be written (logHistoryFailing), or that they can be written again (logHistoryWorks). `late` counts
/// the receipts that had been set aside.
void logHistoryFailing(const CoreContext& context, const std::string& why);
void logHistoryWorks(const CoreContext& context, std::uint64_t late);
/// Writes that too many receipts could not be written: `first` is lost, and others may follow.
void logReceiptsDropped(const CoreContext& context, const Receipt& first);
void logHistoryDamaged(const CoreContext& context, const std::string& words);
/// Writes that the clock has jumped far ahead, so that pinfoldd takes no receipt for old.
void logClockDoubted(const CoreContext& context);

/// Writes one entry for each orphan, and one for each record that pinfoldd cannot read.
void logReconciled(const CoreContext& context, const Reconciliation& found);

void logDrained(const CoreContext& context, const Drain& drain);
void logUndrained(const CoreContext& context, uid_t by);
void logDrainUnreadable(const CoreContext& context, const std::string& message);

/// Writes that the node's shutdown ends `jobs` jobs.
void logShutdown(const CoreContext& context, std::size_t jobs);
/// Writes that a job has got its receipt although it ran in an earlier boot, or nothing of it was left.
void logJobLost(const CoreContext& context, const JobKey& key, const Receipt& receipt);

void logUnreadableRecord(const CoreContext& context, const std::string& fileAndReason);

/// Writes an ordinary warning that belongs to no job.
void logNodeWarning(const CoreContext& context, const std::string& message);

/// Writes an ordinary warning that belongs to a job.
void logWarning(const CoreContext& context, const JobKey& key, const std::string& message, Trouble about = Trouble::Other);

} // namespace pinfold
