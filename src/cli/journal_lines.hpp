// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/terminal.hpp"
#include "os/journal_reader.hpp"

#include <string>

namespace pinfold {

/// Returns a line in the form of journalctl(1), --output=short-iso, such as
/// "2026-11-20T12:00:00+0000 node1 pinfoldd[812]: job sge.4711 ended". If the message has several lines, the further lines begin
/// below the first line of the message.
std::string journalLine(const JournalEntry& entry, const Terminal& terminal);

/// Returns all fields of the entry as one line of JSON, in the form of journalctl(1), --output=json --all.
std::string jsonJournalEntry(const JournalEntry& entry);

/// Returns the last lines of a unit's journal, as far as the caller may read them.
std::string lastJournalLines(const std::string& unit, const Terminal& terminal);

} // namespace pinfold
