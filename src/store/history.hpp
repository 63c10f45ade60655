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
    /// A receipt's id. list() then gives only receipts after this one, in the order with the newest first. If this receipt no
    /// longer exists, list() gives none.
    std::optional<std::string> before = {};
    std::uint32_t limit = 100; ///< 1 to 10000
    /// The result, as toString(JobResult) gives it. Any other word matches no receipt.
    std::optional<std::string> result = {};
    std::optional<std::string> scheduler = {}; ///< the whole part of the key before its first dot
    bool leftoversOnly = false;                ///< only jobs that left processes behind
    std::vector<JobOutcome> outcomes = {};     ///< only these; empty: all

    bool operator==(const ReceiptFilter&) const = default;
};

/// What the clocks show. It serves to check CLOCK_REALTIME.
struct ClockReading {
    std::string bootId;
    std::uint64_t boot = 0; ///< CLOCK_BOOTTIME, microseconds
};

/// What the history may keep. Unset: no limit.
struct Retention {
    std::optional<std::uint64_t> maxAge = {};   ///< microseconds since a job's end
    std::optional<std::uint64_t> maxBytes = {}; ///< bytes of the file's pages in use, see HistoryInfo::bytes
    /// If this is set, nothing is removed for its age while `now` is doubtful, see clockIsBelieved().
    std::optional<ClockReading> clock = {};
};

struct Vacuumed {
    std::uint64_t removed = 0; ///< receipts
    bool more = false;         ///< the history is not within the limits yet: call again
    std::uint64_t bytes = 0;   ///< bytes in use afterwards
    bool clockDoubted = false; ///< nothing was removed for its age
};

struct HistoryInfo {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0; ///< bytes of the file's pages in use: receipts and indexes, without the log and free pages
    std::optional<std::uint64_t> oldest = {}; ///< the first end of a job, CLOCK_REALTIME microseconds; unset without receipts
    std::optional<std::uint64_t> newest = {}; ///< the last end of a job
};

/// The row of a job that runs.
struct LiveRow {
    std::string bootId; ///< the boot in which the job runs
    Receipt receipt;    ///< the job's receipt, in case the node goes down now

    bool operator==(const LiveRow&) const = default;
};

/// The jobs that have no receipt yet, and the times at which the node certainly ran. Times are CLOCK_REALTIME microseconds.
struct LiveTable {
    struct Sign {
        std::string bootId;
        std::uint64_t time = 0;
    };
    std::vector<LiveRow> rows = {};              ///< in the order of the jobs' ids, of this boot and of earlier boots
    std::optional<Sign> lastVacuum = {};         ///< the last vacuum() that was given a clock
    std::optional<std::uint64_t> newestEnd = {}; ///< the newest end in all receipts
};

/// A report on how a leader ended that came after the job's receipt had been written.
struct LateReport {
    std::string id; ///< the receipt's id
    ExitState exit;
};

/// The changes that one transaction writes, all of them or none.
struct HistoryChanges {
    std::vector<Receipt> receipts = {};
    std::vector<LiveRow> started = {};
    std::vector<LateReport> reports = {}; ///< may also be about `receipts`; see amend()
};

/// One thread at a time may use this. All calls may wait for the disk, so pinfoldd's loop uses AsyncHistory.
class History {
public:
    enum class Mode { ReadWrite, ReadOnly };

    /// ReadWrite creates the file if it does not exist, and brings a file of an older pinfold to this schema. That happens at
    /// once, but with 1,000,000 receipts of schema 1 it takes some 40 s and the file's size in free space; `beforeMigration` is
    /// called before it then. WAL, synchronous=FULL: what write() wrote is durable when it returns. Errors here and below:
    /// Damaged when the file is not one of sqlite's or not whole; else Internal, with sqlite's words and, from open(), the path.
    static Result<History> open(const std::filesystem::path& file, Mode mode, const std::function<void()>& beforeMigration = {});
    History(History&&) noexcept;
    History& operator=(History&&) noexcept;
    ~History();

    /// Writes all changes in one transaction, which is durable on return. A receipt whose id is stored already stays as it is,
    /// since after a crash the same job may be accounted again. The answer has these receipts as they are stored. A job is live
    /// from `started` until its receipt is written, and never again afterwards.
    Result<std::vector<Receipt>> write(const HistoryChanges& changes);
    /// The jobs that are live according to write().
    Result<LiveTable> live() const;
    /// The receipts, newest first. This reads indexes only, unless the file is of schema 1 and was opened ReadOnly.
    Result<std::vector<Receipt>> list(const ReceiptFilter& filter) const;
    /// The largest n of any key manual.<n>, or 0.
    Result<std::uint64_t> lastManualNumber() const;
    Result<HistoryInfo> info() const;
    /// False: the file was opened ReadOnly in a way in which sqlite does not see what others write afterwards.
    bool followsWriters() const;

    /// Removes receipts beyond `retention`, at most `maxRows` (from 1), and gives free space back to the file system, at most
    /// `maxRows` pages. Receipts that are too old go first. While the file is too large, the oldest receipts of the user who has
    /// the most go, up to `maxRows` more than needed. 100 rows of 1,000,000 take some 10 ms for their age and 250 ms for the
    /// size. `now`: CLOCK_REALTIME microseconds. After an error nothing has been removed.
    Result<Vacuumed> vacuum(const Retention& retention, std::uint64_t now, std::size_t maxRows);

private:
    struct Impl;
    explicit History(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
