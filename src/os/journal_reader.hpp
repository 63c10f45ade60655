// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads this host's journal (sd-journal(3)).
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct sd_journal;

namespace pinfold {

struct JournalEntry {
    std::string cursor;
    std::uint64_t realTime = 0;                              ///< CLOCK_REALTIME, microseconds
    std::uint64_t monotonic = 0;                             ///< CLOCK_MONOTONIC in the boot of the entry, microseconds
    std::vector<std::pair<std::string, std::string>> fields; ///< a name may occur several times; values may hold any bytes

    /// The first value of the field; empty: the entry has no such field.
    std::string_view field(std::string_view name) const;
};

/// Alternatives, each of which is a list of conditions "FIELD=value". Conditions on the same field are alternatives, too.
using JournalMatches = std::vector<std::vector<std::string>>;

/// What `journalctl -u UNIT` shows: entries of the unit's processes, of systemd about the unit, and of root's programs about it.
JournalMatches matchesOfUnit(const std::string& unit);

/// Shows the entries that match and that the caller may read, oldest first. Calls block as long as the journal's files do.
class JournalReader {
public:
    static Result<JournalReader> open(const JournalMatches& matches);

    Result<void> goToOldest();
    /// Leaves out all entries but the newest `count`.
    Result<void> goToNewest(std::uint64_t count);
    /// The next entry. Unset: there is none yet.
    Result<std::optional<JournalEntry>> next();
    /// Waits until the journal has changed.
    Result<void> wait();

private:
    struct Close {
        void operator()(sd_journal* journal) const;
    };
    explicit JournalReader(sd_journal* journal) : journal_(journal) {}
    Result<std::optional<JournalEntry>> entry(); ///< unset: the entry cannot be read

    std::unique_ptr<sd_journal, Close> journal_;
};

/// False: the caller may read only entries of own processes, and JournalReader leaves out all others without a word.
bool mayReadWholeJournal();

} // namespace pinfold
