// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/terminal.hpp"
#include "os/journal_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Formats a journal entry like `journalctl --output=short-iso`, such as "2026-11-20T12:00:00+0000 node1 pinfoldd[812]: job
/// sge.4711 ended". If a message has several lines, journalLine() indents the second line and all later lines to the column in
/// which the message begins.
std::string journalLine(const JournalEntry& entry, const Terminal& terminal);

/// Returns all fields of a journal entry as one line of JSON, like `journalctl --output=json --all`.
std::string jsonJournalEntry(const JournalEntry& entry);

/// Describes a warning or an error of pinfoldd in the journal.
struct DaemonMessage {
    RealTime time{};
    bool isError = false; ///< false for a warning
    std::string message;  ///< printable
};

/// Returns the last few warnings and errors of pinfoldd, oldest first. The metric pinfold_errors_total counts the warnings and
/// errors of pinfoldd. pinfoldd writes its warnings and errors to its standard error. Warnings about what jobs did, for example
/// about leftovers, are not in the result. The result is nullopt if the caller may not read the journal.
std::optional<std::vector<DaemonMessage>> lastErrorsOfDaemon();

/// Says who may read the entries that the caller may not read.
extern const char* const kOnlyOwnEntries;

/// Returns the last lines from the journal of a unit, without lines that the caller may not read.
std::string lastJournalLines(const std::string& unit, const Terminal& terminal);

} // namespace pinfold
