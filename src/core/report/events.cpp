// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/report/events.hpp"

#include "base/message_ids.hpp"
#include "base/parse.hpp"
#include "base/paths.hpp"
#include "model/limit_table.hpp"
#include "model/set_limit.hpp"

#include <fmt/core.h>

#include <syslog.h>

#include <map>
#include <string>

namespace pinfold {
namespace {

std::string taskName(const JobKey& key, std::uint32_t task) {
    return task == 0 ? key.text() : fmt::format("{}-{}", key.text(), task);
}

/// Returns the fields that every journal entry about a job has. The field OBJECT_SYSTEMD_UNIT makes `journalctl -u job-….scope`
/// show the entry.
JournalEvent jobEvent(int priority, const char* messageId, const char* name, const JobKey& key, std::uint32_t task) {
    JournalEvent event;
    event.priority = priority;
    event.messageId = messageId;
    event.fields = {{"PINFOLD_EVENT", name},
                    {"PINFOLD_JOB", key.text()},
                    {"PINFOLD_TASK", std::to_string(task)},
                    {"PINFOLD_SCHEDULER", std::string(key.scheduler())},
                    {"OBJECT_SYSTEMD_UNIT", key.scopeName(task)}};
    return event;
}

std::map<std::string, std::string> limitTexts(const ResourceLimits& limits) {
    std::map<std::string, std::string> texts;
    forEachLimit(limits, [&texts](const LimitRow& row, const auto& limit) {
        if constexpr (kIsNumber<decltype(limit)>) {
            if (limit)
                texts[row.name] = *limit == kInfinity ? "infinity" : std::to_string(*limit);
        } else if (limit) {
            texts[row.name] = limitText(*limit);
        }
    });
    return texts;
}

std::string unsentOf(const Vacuumed& done) {
    return done.unsent > 0
               ? fmt::format(" ({} of them not in the archive yet, because the history exceeds archive.max_unsent)", done.unsent)
               : "";
}

std::string describe(const Receipt& receipt) {
    std::string text(toString(receipt.result));
    if (receipt.exit.status)
        text += fmt::format(" with status {}", *receipt.exit.status);
    if (receipt.exit.signal)
        text += " by " + signalName(*receipt.exit.signal);
    text += " after " + formatDuration(receipt.wall);
    if (receipt.leftovers.count > 0)
        text += fmt::format(", {} stopped", counted(receipt.leftovers.count, "leftover process", "leftover processes"));
    return text;
}

/// Writes a warning or an error to the journal, and increases the metric that counts these entries. The field PINFOLD_TROUBLE
/// makes `pinfold status` show the entry.
void logTrouble(const CoreContext& context, JournalEvent event, Trouble about) {
    event.fields.emplace_back("PINFOLD_TROUBLE", std::string(toString(about)));
    context.journal.event(event);
    context.metrics.troubled(about);
}

void logEnd(const CoreContext& context, const JobKey& key, const Receipt& receipt, std::string message) {
    auto event = jobEvent(LOG_INFO, kMessageJobEnded, "job-ended", key, 0);
    event.message = std::move(message);
    event.fields.emplace_back("PINFOLD_UID", std::to_string(receipt.uid));
    event.fields.emplace_back("PINFOLD_RESULT", std::string(toString(receipt.result)));
    context.journal.event(event);
    context.metrics.jobEnded(receipt);
}

} // namespace

void logJobStarted(const CoreContext& context, const Job& job) {
    auto event = jobEvent(LOG_INFO, kMessageJobStarted, "job-started", job.key(), 0);
    event.message = fmt::format("job {} started for user {}", job.key().text(), job.record.uid);
    event.fields.emplace_back("PINFOLD_UID", std::to_string(job.record.uid));
    context.journal.event(event);
    context.metrics.jobStarted();
}

void logJobEnded(const CoreContext& context, const Job& job, const Receipt& receipt) {
    logEnd(context, job.key(), receipt, fmt::format("job {} ended: {}", receipt.key, describe(receipt)));
}

void logReceiptAmended(const CoreContext& context, const Receipt& receipt) {
    const auto key = JobKey::parse(receipt.key);
    if (!key)
        return;
    auto event = jobEvent(LOG_INFO, kMessageReceiptAmended, "receipt-amended", *key, 0);
    event.message =
        fmt::format("job {} had ended: {} (a report that came later has completed the receipt)", receipt.key, describe(receipt));
    event.fields.emplace_back("PINFOLD_UID", std::to_string(receipt.uid));
    event.fields.emplace_back("PINFOLD_RESULT", std::string(toString(receipt.result)));
    context.journal.event(event);
}

void logJobLost(const CoreContext& context, const JobKey& key, const Receipt& receipt) {
    logEnd(context, key, receipt, fmt::format("job {} did not survive: {}", receipt.key, toString(receipt.result)));
}

void logLeftovers(const CoreContext& context, const Job& job, std::uint32_t task, std::uint64_t count,
                  const std::vector<ProcessInfo>& named) {
    auto event = jobEvent(LOG_WARNING, kMessageLeftovers, "leftovers", job.key(), task);
    event.message = "rogue process(es) found for task " + taskName(job.key(), task);
    event.fields.emplace_back("PINFOLD_UID", std::to_string(job.record.uid));
    event.fields.emplace_back("PINFOLD_LEFTOVER_COUNT", std::to_string(count));
    context.journal.event(event);

    const bool sayCommand = context.config.leftovers.commandLines != CommandLines::None;
    for (const auto& process : named) {
        auto leftover = jobEvent(LOG_INFO, kMessageLeftover, "leftover", job.key(), task);
        // A journal entry about a leftover must not have the field OBJECT_PID=. For an entry with OBJECT_PID=, journald reads the
        // command line of the process with this id. To read a command line, journald has to wait for the lock of the process's
        // memory, possibly for ever.
        leftover.message = "leftover: " + (sayCommand ? process.command : fmt::format("pid {}", process.pid));
        leftover.fields.emplace_back("PINFOLD_LEFTOVER_PID", std::to_string(process.pid));
        leftover.fields.emplace_back("PINFOLD_LEFTOVER_UID", std::to_string(process.realUid));
        if (sayCommand)
            leftover.fields.emplace_back("PINFOLD_LEFTOVER_COMMAND", process.command);
        leftover.fields.emplace_back("PINFOLD_LEFTOVER_CPU_USEC", std::to_string(toUsec(process.cpu)));
        leftover.fields.emplace_back("PINFOLD_LEFTOVER_RSS_BYTES", std::to_string(process.rss));
        leftover.fields.emplace_back("PINFOLD_LEFTOVER_AGE_USEC",
                                     std::to_string(toUsec(timeBetween(process.started, context.loop.bootTime()))));
        context.journal.event(leftover);
    }
    if (count > named.size()) {
        auto rest = jobEvent(LOG_INFO, kMessageLeftover, "leftover", job.key(), task);
        rest.message = fmt::format("leftover: and {} more", count - named.size());
        context.journal.event(rest);
    }
}

void logLeftoversUnsaid(const CoreContext& context, uid_t user, std::uint64_t processes) {
    JournalEvent event;
    event.priority = LOG_WARNING;
    event.message =
        fmt::format("the journal does not name {} that the jobs of user {} left behind. The receipts count all leftovers",
                    counted(processes, "process", "processes"), user);
    event.fields = {{"PINFOLD_EVENT", "leftovers-unsaid"},
                    {"PINFOLD_UID", std::to_string(user)},
                    {"PINFOLD_LEFTOVER_COUNT", std::to_string(processes)}};
    context.journal.event(event);
}

void logLimitUnenforced(const CoreContext& context, const JobKey& key, const std::string& message) {
    auto event = jobEvent(LOG_WARNING, kMessageLimitUnenforced, "limit-unenforced", key, 0);
    event.message = fmt::format("job {} runs without a limit that it asked for: {}", key.text(), message);
    logTrouble(context, std::move(event), Trouble::Limit);
}

void logOutOfMemory(const CoreContext& context, const Job& job, std::optional<std::uint64_t> peak) {
    const auto& verdict = *job.record.oom;
    auto event = jobEvent(LOG_WARNING, kMessageOutOfMemory, "out-of-memory", job.key(), 0);
    event.message = fmt::format("job {}: {}", job.key().text(), oomLine(verdict, peak));
    event.fields.emplace_back("PINFOLD_UID", std::to_string(job.record.uid));
    event.fields.emplace_back("PINFOLD_OOM_CAUSE", std::string(toString(verdict.cause)));
    if (verdict.victim)
        event.fields.emplace_back("PINFOLD_OOM_VICTIM", std::to_string(*verdict.victim));
    if (verdict.victimName)
        event.fields.emplace_back("PINFOLD_OOM_VICTIM_NAME", *verdict.victimName);
    context.journal.event(event);
}

void logLimitNear(const CoreContext& context, const Job& job, const std::string& limit, const std::string& words) {
    auto event = jobEvent(LOG_NOTICE, kMessageLimitNear, "limit-near", job.key(), 0);
    event.message = fmt::format("job {} {}", job.key().text(), words);
    event.fields.emplace_back("PINFOLD_UID", std::to_string(job.record.uid));
    event.fields.emplace_back("PINFOLD_LIMIT", limit);
    context.journal.event(event);
}

void logLimitsChanged(const CoreContext& context, const Job& job, uid_t by, const ResourceLimits& before) {
    auto event = jobEvent(LOG_INFO, kMessageLimitsChanged, "limits-changed", job.key(), 0);
    event.message = fmt::format("job {}: user {} changed", job.key().text(), by);
    event.fields.emplace_back("PINFOLD_BY_UID", std::to_string(by));
    const auto was = limitTexts(before);
    for (const auto& [name, text] : limitTexts(job.record.limits)) {
        const auto old = was.find(name);
        if (old != was.end() && old->second == text)
            continue;
        event.message += fmt::format(" {} from {} to {},", name, old == was.end() ? "unset" : old->second, text);
    }
    event.message.pop_back();
    context.journal.event(event);
}

void logSuspension(const CoreContext& context, const Job& job, bool suspended, uid_t by) {
    auto event =
        jobEvent(LOG_INFO, suspended ? kMessageSuspended : kMessageResumed, suspended ? "suspended" : "resumed", job.key(), 0);
    event.message = fmt::format("job {} {} by user {}", job.key().text(), suspended ? "suspended" : "resumed", by);
    event.fields.emplace_back("PINFOLD_BY_UID", std::to_string(by));
    context.journal.event(event);
}

void logUnkillable(const CoreContext& context, const Job& job, std::size_t count, const std::vector<ProcessInfo>& named) {
    auto event = jobEvent(LOG_ERR, kMessageUnkillable, "unkillable", job.key(), 0);
    event.message =
        fmt::format("job {} cannot end: {} outlived SIGKILL, sent {} ago; the job ends when these processes end{}",
                    job.key().text(), counted(count, "process", "processes"), formatDuration(context.config.unkillable.after),
                    job.record.unkillableInFuse ? "; " + std::string(kAbortFuse) : "");
    event.fields.emplace_back("PINFOLD_UID", std::to_string(job.record.uid));
    event.fields.emplace_back("PINFOLD_UNKILLABLE_COUNT", std::to_string(count));
    logTrouble(context, std::move(event), Trouble::Stop);

    for (const auto& process : named) {
        auto stuck = jobEvent(LOG_ERR, kMessageUnkillableProcess, "unkillable-process", job.key(), 0);
        stuck.message = fmt::format("unkillable: pid {}, state {}, waits in {}", process.pid, process.state,
                                    process.waitPoint.value_or("(unknown)"));
        stuck.fields.emplace_back("PINFOLD_UNKILLABLE_PID", std::to_string(process.pid));
        stuck.fields.emplace_back("PINFOLD_UNKILLABLE_UID", std::to_string(process.realUid));
        stuck.fields.emplace_back("PINFOLD_UNKILLABLE_STATE", std::string(1, process.state));
        if (process.waitPoint)
            stuck.fields.emplace_back("PINFOLD_UNKILLABLE_WAIT_POINT", *process.waitPoint);
        if (!process.command.empty()) {
            stuck.message += ": " + process.command;
            stuck.fields.emplace_back("PINFOLD_UNKILLABLE_COMMAND", process.command);
        }
        context.journal.event(stuck);
    }
}

void logHistoryVacuumed(const CoreContext& context, const Vacuumed& done, std::optional<uid_t> by) {
    JournalEvent event;
    event.priority = done.unsent > 0 ? LOG_WARNING : LOG_INFO;
    event.messageId = kMessageHistoryVacuumed;
    event.message = fmt::format("history: {} of the oldest receipts removed{}{}; the remaining receipts take {}", done.removed,
                                by ? fmt::format(" for user {}", *by) : "", unsentOf(done), formatSize(done.bytes));
    event.fields = {{"PINFOLD_EVENT", "history-vacuumed"},
                    {"PINFOLD_REMOVED", std::to_string(done.removed)},
                    {"PINFOLD_REMOVED_UNSENT", std::to_string(done.unsent)},
                    {"PINFOLD_HISTORY_BYTES", std::to_string(done.bytes)}};
    if (by)
        event.fields.emplace_back("PINFOLD_BY_UID", std::to_string(*by));
    context.journal.event(event);
}

void logVacuumFailed(const CoreContext& context, const Vacuumed& before, const std::string& why) {
    JournalEvent event;
    event.priority = LOG_WARNING;
    event.message = fmt::format("history: cannot remove enough old receipts to keep the limits, next try within an hour; {} "
                                "removed before the error{}: {}",
                                counted(before.removed, "receipt was", "receipts were"), unsentOf(before), why);
    logTrouble(context, std::move(event), Trouble::Other);
}

void logHistoryFailing(const CoreContext& context, const std::string& why) {
    const bool drains = context.config.history.onFailure == HistoryFailure::Drain;
    JournalEvent event;
    event.priority = LOG_ERR;
    event.message = fmt::format("receipts cannot be written: {}; pinfoldd keeps them in {} and writes them when it can{}", why,
                                kKeptReceiptsDirectory,
                                drains ? "; this node takes no new jobs until then (history.on_failure = \"drain\")" : "");
    event.fields = {{"PINFOLD_EVENT", "history-failing"}};
    logTrouble(context, std::move(event), Trouble::Receipt);
}

void logHistoryWorks(const CoreContext& context, std::uint64_t late) {
    JournalEvent event;
    event.priority = LOG_NOTICE;
    event.message =
        fmt::format("receipts can be written again; {} written", counted(late, "kept receipt was", "kept receipts were"));
    event.fields = {{"PINFOLD_EVENT", "history-works"}, {"PINFOLD_KEPT", std::to_string(late)}};
    context.journal.event(event);
}

void logReceiptsDropped(const CoreContext& context, const Receipt& first) {
    JournalEvent event;
    event.priority = LOG_ERR;
    event.message =
        fmt::format("too many receipts wait to be written: pinfoldd drops the oldest from now on, beginning with that of job "
                    "{}; pinfold_history_dropped_total counts them",
                    first.key);
    event.fields = {{"PINFOLD_EVENT", "receipts-dropped"}, {"PINFOLD_JOB", first.key}};
    logTrouble(context, std::move(event), Trouble::Receipt);
}

void logHistoryDamaged(const CoreContext& context, const std::string& words) {
    JournalEvent event;
    event.priority = LOG_WARNING;
    event.message = "the history was damaged, and pinfoldd has started a new one: " + words;
    event.fields = {{"PINFOLD_EVENT", "history-damaged"}};
    logTrouble(context, std::move(event), Trouble::Receipt);
}

void logClockDoubted(const CoreContext& context) {
    JournalEvent event;
    event.priority = LOG_WARNING;
    event.message =
        "history: the clock is far ahead of its last known time. Until the clock has been right for a day, pinfoldd removes no "
        "receipt because of its age. Set the clock if it is wrong";
    event.fields = {{"PINFOLD_EVENT", "clock-doubted"}};
    logTrouble(context, std::move(event), Trouble::Other);
}

void logReconciled(const CoreContext& context, const Reconciliation& found) {
    forEachOrphanKind(found, [&](std::string_view kind, const std::vector<std::string>& names) {
        context.metrics.foundOrphans(kind, names.size());
        const bool left = kind.ends_with("_left");
        // If pinfoldd cannot read a job's record, the units of the job seem to be orphans.
        if (kind == "records_unreadable" || (left && !found.recordsUnreadable.empty()))
            return;
        for (const auto& name : names) {
            JournalEvent event;
            event.priority = left ? LOG_WARNING : LOG_NOTICE;
            event.messageId = kMessageOrphan;
            event.message = orphanInWords(kind, name);
            event.fields = {{"PINFOLD_EVENT", "orphan"}, {"PINFOLD_ORPHAN", name}, {"PINFOLD_ORPHAN_KIND", std::string(kind)}};
            left ? logTrouble(context, std::move(event), Trouble::Other) : context.journal.event(event);
        }
    });
    for (const auto& line : found.recordsUnreadable)
        logUnreadableRecord(context, line);
}

void logDrained(const CoreContext& context, const Drain& drain) {
    const auto by = std::to_string(drain.by.value_or(0));
    JournalEvent event;
    event.priority = LOG_NOTICE;
    event.messageId = kMessageDrained;
    event.message =
        fmt::format("node drained by user {}{}", by, drain.reason.empty() ? ", no reason given" : ": " + drain.reason);
    event.fields = {{"PINFOLD_EVENT", "drained"}, {"PINFOLD_BY_UID", by}, {"PINFOLD_REASON", drain.reason}};
    context.journal.event(event);
}

void logUndrained(const CoreContext& context, uid_t by) {
    JournalEvent event;
    event.priority = LOG_NOTICE;
    event.messageId = kMessageUndrained;
    event.message = fmt::format("node takes jobs again: drain ended by user {}", by);
    event.fields = {{"PINFOLD_EVENT", "undrained"}, {"PINFOLD_BY_UID", std::to_string(by)}};
    context.journal.event(event);
}

void logDrainUnreadable(const CoreContext& context, const std::string& message) {
    JournalEvent event;
    event.priority = LOG_ERR;
    event.message = "this node takes no jobs, because pinfoldd does not know whether the node is drained: " + message;
    logTrouble(context, std::move(event), Trouble::Other);
}

void logShutdown(const CoreContext& context, std::size_t jobs) {
    JournalEvent event;
    event.priority = LOG_NOTICE;
    event.messageId = kMessageShutdown;
    event.message = fmt::format("the node is being shut down: pinfoldd takes no new jobs, and {} end now", jobs);
    event.fields = {{"PINFOLD_EVENT", "node-shutdown"}};
    context.journal.event(event);
}

void logUnreadableRecord(const CoreContext& context, const std::string& fileAndReason) {
    JournalEvent event;
    event.priority = LOG_ERR;
    event.message = fmt::format("a record cannot be read, so pinfoldd does not touch its job: {}; find the job's units with "
                                "`systemctl status 'batch-*.slice'`, stop them, and then remove the file",
                                fileAndReason);
    logTrouble(context, std::move(event), Trouble::Record);
}

void logNodeWarning(const CoreContext& context, const std::string& message) {
    JournalEvent event;
    event.priority = LOG_WARNING;
    event.message = message;
    logTrouble(context, std::move(event), Trouble::Other);
}

void logWarning(const CoreContext& context, const JobKey& key, const std::string& message, Trouble about) {
    JournalEvent event;
    event.priority = LOG_WARNING;
    event.message = fmt::format("job {}: {}", key.text(), message);
    event.fields = {{"PINFOLD_JOB", key.text()}, {"OBJECT_SYSTEMD_UNIT", key.scopeName(0)}};
    logTrouble(context, std::move(event), about);
}

} // namespace pinfold
