// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/terminal.hpp"
#include "os/journal_reader.hpp"

#include <string>

namespace pinfold {

/// "2026-11-20T12:00:00+0000 node1 pinfoldd[812]: job sge.4711 ended", in the form of journalctl(1), --output=short-iso. If the
/// message has several lines, the others begin below the first.
std::string journalLine(const JournalEntry& entry, const Terminal& terminal);

/// All fields of the entry as one line of JSON, in the form of journalctl(1), --output=json --all.
std::string jsonJournalEntry(const JournalEntry& entry);

/// The last lines of a unit's journal, as far as the caller may read them.
std::string lastJournalLines(const std::string& unit, const Terminal& terminal);

} // namespace pinfold
