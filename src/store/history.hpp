// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the receipts of ended jobs, in sqlite3 (/var/lib/pinfold/history.db).
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
    std::optional<std::uint64_t> since = {}; ///< only jobs that ended at this time or later, CLOCK_REALTIME microseconds
    std::optional<std::uint64_t> until = {}; ///< only jobs that ended before this time, CLOCK_REALTIME microseconds
    /// The id of a receipt. If it is set, list() returns only receipts that are older than this one, and returns no receipt if
    /// this one no longer exists.
    std::optional<std::string> before = {};
    std::uint32_t limit = 100; ///< 1 to 10000
    /// The result of the job, as a word of toString(JobResult). Any other word matches no receipt.
    std::optional<std::string> result = {};
    std::optional<std::string> scheduler = {}; ///< the part of the key before the key's first dot
    bool leftoversOnly = false;                ///< only jobs that left processes behind
    std::vector<JobOutcome> outcomes = {};     ///< only jobs with one of these outcomes; if empty, all jobs

    bool operator==(const ReceiptFilter&) const = default;
};

/// Says what the clocks show. vacuum() uses it to check CLOCK_REALTIME.
struct ClockReading {
    std::string bootId;
    std::uint64_t boot = 0; ///< in microseconds of CLOCK_BOOTTIME
};

/// Says what the history may keep. If a member is unset, there is no such limit.
struct Retention {
    std::optional<std::uint64_t> maxAge = {};   ///< how long after the job's end a receipt may stay, in microseconds
    std::optional<std::uint64_t> maxBytes = {}; ///< how many bytes the file's pages in use may have, see HistoryInfo::bytes
    /// If `clock` is set, vacuum() removes no receipt for its age while `now` is doubtful (see clockIsBelieved()).
    std::optional<ClockReading> clock = {};
};

struct Vacuumed {
    std::uint64_t removed = 0; ///< how many receipts were removed
    bool more = false;         ///< the history is not within the limits yet, so call vacuum() again
    std::uint64_t bytes = 0;   ///< bytes of the file's pages that are still in use
    bool clockDoubted = false; ///< the clock is doubtful, so no receipt was removed for its age
};

struct HistoryInfo {
    std::uint64_t rows = 0;
    std::uint64_t bytes = 0; ///< bytes of the file's pages in use: receipts and indexes, but not the log and free pages
    std::optional<std::uint64_t> oldest = {}; ///< when the first job of a receipt ended (CLOCK_REALTIME, microseconds); unset if
                                              ///< there are no receipts
    std::optional<std::uint64_t> newest = {}; ///< when the last job of a receipt ended (CLOCK_REALTIME, microseconds)
};

/// Is the row of a job that runs.
struct LiveRow {
    std::string bootId; ///< the boot in which the job runs
    Receipt receipt;    ///< the receipt that the job gets if the node goes down now

    bool operator==(const LiveRow&) const = default;
};

/// Lists the jobs that have no receipt yet, and the times at which the node certainly ran. Times are CLOCK_REALTIME microseconds.
struct LiveTable {
    struct Sign {
        std::string bootId;
        std::uint64_t time = 0;
    };
    std::vector<LiveRow> rows = {};              ///< the jobs of this boot and of earlier boots, in the order of their ids
    std::optional<Sign> lastVacuum = {};         ///< the last vacuum() that got a clock
    std::optional<std::uint64_t> newestEnd = {}; ///< the latest end of a job in all receipts
};

/// Reports how a leader ended. The report came after the job's receipt had been written.
struct LateReport {
    std::string id; ///< the id of the job's receipt
    ExitState exit;
};

/// Holds the changes that one transaction writes: it writes all of them or none.
struct HistoryChanges {
    std::vector<Receipt> receipts = {};
    std::vector<LiveRow> started = {};
    std::vector<LateReport> reports = {}; ///< a report may also be about one of `receipts`; see amend()
};

/// Reads and writes the database. One thread at a time may use a History. All calls may wait for the disk, so pinfoldd's loop
/// uses AsyncHistory instead.
class History {
public:
    enum class Mode { ReadWrite, ReadOnly };

    /// Opens the database. ReadWrite creates the file if it does not exist, and migrates a file of an older pinfold to this
    /// schema. The migration usually takes a moment. With 1,000,000 receipts of schema 1 it takes some 40 s, and free space as
    /// large as the file; open() calls `beforeMigration` before such a migration. The settings are WAL and synchronous=FULL, so
    /// the changes are durable when write() returns. Errors of open() and of the methods below: Damaged if the file is not a
    /// database of sqlite or is incomplete; otherwise Internal, with sqlite's words and, from open(), the path.
    static Result<History> open(const std::filesystem::path& file, Mode mode, const std::function<void()>& beforeMigration = {});
    History(History&&) noexcept;
    History& operator=(History&&) noexcept;
    ~History();

    /// Writes all changes in one transaction, which is durable on return. If a receipt with the same id is stored already, the
    /// stored receipt stays as it is, because after a crash pinfoldd may account for the same job again. The answer has these
    /// stored receipts. A job is live from `started` until its receipt is written, and never again afterwards.
    Result<std::vector<Receipt>> write(const HistoryChanges& changes);
    /// Returns the jobs that are live according to write().
    Result<LiveTable> live() const;
    /// Returns the receipts that match, the newest first. list() reads only indexes, unless the file is of schema 1 and was
    /// opened ReadOnly.
    Result<std::vector<Receipt>> list(const ReceiptFilter& filter) const;
    /// Returns the largest n of any key manual.<n>, or 0 if there is no such key.
    Result<std::uint64_t> lastManualNumber() const;
    Result<HistoryInfo> info() const;
    /// Returns false if the file was opened ReadOnly in such a way that sqlite does not see what others write afterwards.
    bool followsWriters() const;

    /// Removes receipts that exceed `retention`, but at most `maxRows` (1 or more). Gives free space back to the file system, but
    /// at most `maxRows` pages. Receipts that are too old go first. Then, while the file is too large, the oldest receipts of the
    /// user with the most receipts go, up to `maxRows` more than needed. To remove 100 rows of 1,000,000 takes some 10 ms if they
    /// are too old, and 250 ms if the file is too large. `now` is CLOCK_REALTIME in microseconds. After an error vacuum() has
    /// removed nothing.
    Result<Vacuumed> vacuum(const Retention& retention, std::uint64_t now, std::size_t maxRows);

private:
    struct Impl;
    explicit History(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
