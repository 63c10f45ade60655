// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads this host's journal (sd-journal(3)).
#pragma once

#include "base/clock.hpp"
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
    RealTime realTime{};
    MonotonicTime monotonic{}; ///< the time of the entry on CLOCK_MONOTONIC, in the boot in which the entry was written
    /// Each pair is the name and the value of a field. The same field can occur several times in an entry, and the value of a
    /// field can contain any bytes.
    std::vector<std::pair<std::string, std::string>> fields;

    /// Returns the first value of the field, or an empty text if the entry does not have the field.
    std::string_view field(std::string_view name) const;
};

/// Holds lists of conditions. Each condition has the form "FIELD=value". A journal entry matches a list if, for each field in the
/// list, the entry meets at least one condition for this field. JournalReader returns each entry that matches at least one list
/// of JournalMatches.
using JournalMatches = std::vector<std::vector<std::string>>;

/// Returns matches for the entries that `journalctl -u UNIT` shows. The matches select every entry that a process of the unit
/// wrote. If systemd or a program that runs as root wrote an entry about the unit, the matches select that entry.
JournalMatches matchesOfUnit(const std::string& unit);

/// Reads the entries that match the JournalMatches, from the oldest to the newest. A call of JournalReader can block, because
/// JournalReader reads the journal's files from the disk.
class JournalReader {
public:
    static Result<JournalReader> open(const JournalMatches& matches);

    Result<void> goToOldest();
    /// Skips all entries of the journal except the newest entries. `count` says how many entries remain.
    Result<void> goToNewest(std::uint64_t count);
    /// Returns the next entry, or nothing if the journal has no further entry yet.
    Result<std::optional<JournalEntry>> next();
    /// Waits until the journal has changed.
    Result<void> wait();

private:
    struct Close {
        void operator()(sd_journal* journal) const;
    };
    explicit JournalReader(sd_journal* journal) : journal_(journal) {}
    Result<std::optional<JournalEntry>> entry(); ///< returns nullopt if the entry cannot be read

    std::unique_ptr<sd_journal, Close> journal_;
};

/// Returns false if the caller has the right to read only the entries of the caller's own processes. If the caller lacks the
/// right to read the entries of other processes, JournalReader skips these entries and returns no error.
bool mayReadWholeJournal();

} // namespace pinfold
