// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/terminal.hpp"
#include "os/journal_reader.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Formats a journal entry like `journalctl --output=short-iso`. An example of the result is "2026-11-20T12:00:00+0000 node1
/// pinfoldd[812]: job sge.4711 ended". If a message has several lines, all its lines begin in the same column.
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
/// about leftovers, are not in the result. The result is nullopt if the caller is not allowed to read the journal.
std::optional<std::vector<DaemonMessage>> lastErrorsOfDaemon();

/// Says which users are allowed to read the entries that the caller cannot read.
extern const char* const kOnlyOwnEntries;

/// Returns the unit's last lines in the journal, as far as the caller is allowed to read them.
std::string lastJournalLines(const std::string& unit, const Terminal& terminal);

} // namespace pinfold
