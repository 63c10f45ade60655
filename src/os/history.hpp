// SPDX-License-Identifier: LGPL-2.1-or-later
// The receipts of ended jobs, in sqlite3 (/var/lib/pinfold/history.db).
#pragma once

#include "base/result.hpp"
#include "model/receipt.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct ReceiptFilter {
    std::optional<std::string> key = {};
    std::optional<std::uint32_t> uid = {};
    std::optional<std::uint64_t> since = {}; ///< ended at or after, CLOCK_REALTIME microseconds
    std::optional<std::uint64_t> until = {}; ///< ended before
    /// A receipt's id: only those that come after it where the newest are first. None does when that one is no longer there.
    std::optional<std::string> before = {};
    std::uint32_t limit = 100; ///< 1 to 10000
    /// As toString(JobResult) has it; any other word is no receipt's.
    std::optional<std::string> result = {};
    std::optional<std::string> scheduler = {}; ///< all of the key before its first dot
    bool leftoversOnly = false;                ///< only jobs that left processes behind
    std::vector<JobOutcome> outcomes = {};     ///< only these; empty: all
};

/// What the clocks show, for who does not believe CLOCK_REALTIME blindly.
struct ClockReading {
    std::string bootId;
    std::uint64_t boot = 0; ///< CLOCK_BOOTTIME, microseconds
};

/// What history may keep. Unset: no limit.
struct Retention {
    std::optional<std::uint64_t> maxAge = {};   ///< microseconds since a job's end
    std::optional<std::uint64_t> maxBytes = {}; ///< of the file's pages in use, see HistoryInfo::bytes
    /// Set: nothing is removed for its age while `now` is doubtful, see clockIsBelieved().
    std::optional<ClockReading> clock = {};
};

struct Vacuumed {
    std::uint64_t removed = 0; ///< receipts
    bool more = false;         ///< not within the limits yet: call again
    std::uint64_t bytes = 0;   ///< in use afterwards
    bool clockDoubted = false; ///< nothing was removed for its age
};

struct HistoryInfo {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0; ///< of the file's pages in use: receipts and indexes, without the log and free pages
    std::optional<std::uint64_t> oldest = {}; ///< the first end of a job, CLOCK_REALTIME microseconds; unset without receipts
    std::optional<std::uint64_t> newest = {}; ///< the last
};

/// A job that runs.
struct LiveRow {
    std::string bootId; ///< of the boot that it runs in
    Receipt receipt;    ///< the job's receipt, in case the node goes down now

    bool operator==(const LiveRow&) const = default;
};

/// The jobs that have no receipt yet, and when the node ran for sure. Times are CLOCK_REALTIME microseconds.
struct LiveTable {
    struct Sign {
        std::string bootId;
        std::uint64_t time = 0;
    };
    std::vector<LiveRow> rows = {};              ///< in the order of their ids, of this boot and of earlier ones
    std::optional<Sign> lastVacuum = {};         ///< the last vacuum() that was given a clock
    std::optional<std::uint64_t> newestEnd = {}; ///< of all receipts
};

/// How a leader ended, heard after its job's receipt had been written.
struct LateReport {
    std::string id; ///< the receipt's
    ExitState exit;
};

/// What one transaction writes: all of it or nothing.
struct HistoryChanges {
    std::vector<Receipt> receipts = {};
    std::vector<LiveRow> started = {};
    std::vector<LateReport> reports = {}; ///< also of these receipts; see amend()
};

/// Of one thread at a time. All of it may wait for the disk: pinfoldd's loop asks HistoryStore.
class History {
public:
    enum class Mode { ReadWrite, ReadOnly };

    /// ReadWrite creates the file when it is not there, and brings an older pinfold's to this schema: at once, but some 40 s
    /// and the file's size in free space for 1,000,000 receipts of schema 1; `beforeMigration` is called first then. WAL,
    /// synchronous=FULL: write() is durable when it returns. Errors here and below: Damaged when the file is none of sqlite's or
    /// not whole; else Internal, with sqlite's words and, of open(), the path.
    static Result<History> open(const std::filesystem::path& file, Mode mode, const std::function<void()>& beforeMigration = {});
    History(History&&) noexcept;
    History& operator=(History&&) noexcept;
    ~History();

    /// In one transaction, durable on return. A receipt whose id is there already is left as it is, since after a crash the same
    /// job may be accounted again; the answer has those that were there, as they are stored. A job is live from `started` until
    /// its receipt is written, and never again then.
    Result<std::vector<Receipt>> write(const HistoryChanges& changes);
    /// The jobs that are live by write().
    Result<LiveTable> live() const;
    /// Newest first. From indexes alone, unless the file is of schema 1 and opened ReadOnly.
    Result<std::vector<Receipt>> list(const ReceiptFilter& filter) const;
    /// The largest n of any key manual.<n>, or 0.
    Result<std::uint64_t> lastManualNumber() const;
    Result<HistoryInfo> info() const;
    /// False: it was opened ReadOnly where sqlite can't see what others write from then on.
    bool followsWriters() const;

    /// Removes receipts beyond `retention`, `maxRows` (from 1) at most, and gives free space back to the file system,
    /// `maxRows` pages at most. First what is too old goes. While the file is too large, the oldest receipts of the user who has
    /// the most go, up to `maxRows` more than needed. 100 rows of 1,000,000 take some 10 ms for their age and 250 ms for the
    /// size. `now`: CLOCK_REALTIME microseconds. After an error nothing is removed.
    Result<Vacuumed> vacuum(const Retention& retention, std::uint64_t now, std::size_t maxRows);

private:
    struct Impl;
    explicit History(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
