// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/report.hpp"

#include "base/message_ids.hpp"
#include "os/user_terminal.hpp"

#include <fmt/core.h>

#include <syslog.h>

namespace pinfold {
namespace {

struct Wording {
    int priority;
    const char* action; ///< the value of the journal field PINFOLD_STRAY_ACTION
    const char* text;
};

Wording wordingOf(StrayAction::Kind kind) {
    switch (kind) {
    case StrayAction::Kind::Report:
        return {LOG_NOTICE, "report", "belongs to no job"};
    case StrayAction::Kind::Warning:
        return {LOG_WARNING, "warn", "belongs to no job"};
    case StrayAction::Kind::Terminate:
        return {LOG_WARNING, "SIGTERM", "belongs to no job and was sent SIGTERM"};
    case StrayAction::Kind::Kill:
        return {LOG_WARNING, "SIGKILL", "belongs to no job and was sent SIGKILL"};
    case StrayAction::Kind::Spare:
        return {LOG_NOTICE, "spare", "belongs to no job and was spared"};
    case StrayAction::Kind::Failure:
        return {LOG_ERR, "failure", "belongs to no job and cannot be ended"};
    }
    return {LOG_ERR, "", ""};
}

} // namespace

JournalEvent strayEvent(const Stray& stray, const StrayAction& action) {
    const auto wording = wordingOf(action.kind);
    const auto& info = stray.process.info;
    const auto pid = std::to_string(info.pid);
    JournalEvent event;
    event.priority = wording.priority;
    event.messageId = kMessageStray;
    event.message = fmt::format("stray: process {} of user {} ({}, {}) {}{}: {}", pid, info.realUid, toString(stray.kind),
                                stray.unit, wording.text, action.why.empty() ? "" : ", because " + action.why, info.command);
    // The journal entry does not contain the field OBJECT_PID=, because this field makes journald read the command line of the
    // process. journald would hang for as long as somebody held the lock of the process's memory.
    event.fields = {{"PINFOLD_EVENT", "stray"},
                    {"PINFOLD_STRAY_PID", pid},
                    {"PINFOLD_STRAY_UID", std::to_string(info.realUid)},
                    {"PINFOLD_STRAY_KIND", std::string(toString(stray.kind))},
                    {"PINFOLD_STRAY_UNIT", stray.unit},
                    {"PINFOLD_STRAY_CGROUP", stray.process.cgroup},
                    {"PINFOLD_STRAY_PARENT", std::to_string(info.parent)},
                    {"PINFOLD_STRAY_TTY", terminalName(info.terminal)},
                    {"PINFOLD_STRAY_AGE_USEC", std::to_string(toUsec(stray.age))},
                    {"PINFOLD_STRAY_CPU_USEC", std::to_string(toUsec(info.cpu))},
                    {"PINFOLD_STRAY_RSS_BYTES", std::to_string(info.rss)},
                    {"PINFOLD_STRAY_COMMAND", info.command},
                    {"PINFOLD_STRAY_ACTION", wording.action}};
    if (stray.hasJob)
        event.fields.emplace_back("PINFOLD_STRAY_HAS_JOB", *stray.hasJob ? "1" : "0");
    return event;
}

JournalEvent straysRefusedEvent(const std::vector<std::string>& reasons) {
    JournalEvent event;
    event.priority = LOG_ERR;
    event.messageId = kMessageStraysRefused;
    event.message = "strays: pinfold ends nothing, because it could not find out which processes belong to jobs";
    for (const auto& reason : reasons)
        event.message += "; " + reason;
    event.fields = {{"PINFOLD_EVENT", "strays-refused"}};
    return event;
}

} // namespace pinfold
