// SPDX-License-Identifier: LGPL-2.1-or-later
// Keeps the receipts of ended jobs in a database of sqlite3 (/var/lib/pinfold/history.db).
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/receipt.hpp"
#include "model/subordinate_ids.hpp"

#include <sys/types.h>

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
    std::optional<uid_t> uid = {};
    std::optional<RealTime> since = {}; ///< list() returns only jobs that ended at the time `since` or later
    std::optional<RealTime> until = {}; ///< list() returns only jobs that ended before the time `until`
    /// Contains the id of a receipt. If `before` is set, list() returns only receipts that are older than the receipt with the id
    /// `before`. If the receipt with the id `before` no longer exists, list() returns no receipt.
    std::optional<std::string> before = {};
    std::uint32_t limit = 100; ///< list() returns at most `limit` receipts; 1 to 10000
    /// Contains the result of the job, as a word of toString(JobResult). If `result` contains a different word, list() returns no
    /// receipt.
    std::optional<std::string> result = {};
    std::optional<std::string> scheduler = {}; ///< the part of the key before its first dot
    bool leftoversOnly = false;                ///< list() returns only jobs that left processes behind
    /// list() returns the jobs whose outcome is in `outcomes`. If `outcomes` is empty, list() returns jobs with any outcome.
    std::vector<JobOutcome> outcomes = {};
    std::optional<LabelFilter> label = {}; ///< list() returns only jobs with the label `label`
    /// If `after` is set, list() returns only receipts whose sequence is higher than `after`. The receipt with the lowest
    /// sequence comes first.
    std::optional<std::uint64_t> after = {};
    /// Contains the epoch of the sequence in `after`. If the history's epoch is not `epoch`, list() uses 0 in place of `after`.
    std::optional<std::string> epoch = {};
    bool profiles = false; ///< true if list() should read Receipt::profile

    bool operator==(const ReceiptFilter&) const = default;
};

/// Contains the id of the boot and the time on CLOCK_BOOTTIME. vacuum() compares CLOCK_REALTIME with CLOCK_BOOTTIME.
struct ClockReading {
    std::string bootId;
    BootTime boot{};
};

/// Says which unsent receipts vacuum() keeps although they exceed the limits of Retention. An unsent receipt is not yet in the
/// site's archive.
struct KeepUnsent {
    std::filesystem::path sentFile; ///< the file in which pinfold-ship stores its SentPosition
    /// If the used pages of the file have more than `maxBytes` bytes in total, vacuum() treats unsent receipts like sent
    /// receipts.
    std::uint64_t maxBytes = 0;
};

/// Contains the limits of the history. vacuum() removes receipts while the history exceeds a limit. An unset member means that
/// the limit does not exist.
struct Retention {
    std::optional<Microseconds> maxAge = {}; ///< how long the history keeps a receipt after the end of the receipt's job
    /// Contains the limit for the total size of the file's used pages, in bytes (see HistoryInfo::bytes).
    std::optional<std::uint64_t> maxBytes = {};
    /// If `clock` is set and `now` is doubtful (see clockIsBelieved()), vacuum() ignores the age of the receipts.
    std::optional<ClockReading> clock = {};
    std::optional<KeepUnsent> unsent = {}; ///< unset if the site has no archive
    /// If `owners` is set, a receipt of a subordinate user id counts as a receipt of the user who owns the id.
    std::shared_ptr<const SubordinateOwners> owners = {};
};

/// Asks pinfoldd to remove receipts immediately. If `retention` lacks a limit, pinfoldd uses the limit in its configuration.
struct VacuumRequest {
    Retention retention = {};
    bool dryRun = false; ///< true if pinfoldd should only report what the request would remove
};

struct Vacuumed {
    std::uint64_t removed = 0; ///< the number of removed receipts
    std::uint64_t unsent = 0;  ///< how many of the removed receipts were not in the archive (see Retention::unsent)
    bool more = false;         ///< the history still exceeds the limits, so vacuum() must be called again
    std::uint64_t bytes = 0;   ///< the size of the file's pages that are still in use, in bytes
    bool clockDoubted = false; ///< the clock is doubtful, so vacuum() ignored the age of the receipts
};

struct HistoryInfo {
    std::uint64_t rows = 0;
    /// Contains the total size of the file's used pages, in bytes. `bytes` includes the pages that contain receipts or indexes.
    /// `bytes` includes neither free pages nor the write-ahead log.
    std::uint64_t bytes = 0;
    /// The earliest time at which a job in the history ended. `oldest` is unset if the history has no receipts.
    std::optional<RealTime> oldest = {};
    /// The latest time at which a job in the history ended; unset if the history has no receipts.
    std::optional<RealTime> newest = {};
};

/// Holds the row of a running job in the table `live`.
struct LiveRow {
    std::string bootId; ///< the id of the boot in which the job runs
    Receipt receipt;    ///< the receipt that the job gets if the node goes down during the job

    bool operator==(const LiveRow&) const = default;
};

/// Contains the jobs that have no receipt yet. The members `lastVacuum` and `newestEnd` contain times at which the node was
/// certainly up.
struct LiveTable {
    struct Sign {
        std::string bootId;
        RealTime time{};
    };
    std::vector<LiveRow> rows = {};         ///< jobs of this boot and of earlier boots, in the order of the receipts' ids
    std::optional<Sign> lastVacuum = {};    ///< the time at which vacuum() last stored a clock reading
    std::optional<RealTime> newestEnd = {}; ///< the latest time at which a job in the history ended
};

/// Reports how a leader ended. A LateReport is a report that came after the job's receipt had been written.
struct LateReport {
    std::string id; ///< the id of the job's receipt
    ExitState exit;
    JobIdentity identity = {}; ///< facts that pinfoldd adds to the receipt if the receipt lacks them
};

/// Holds the changes that one transaction writes. The transaction writes either all changes or no change.
struct HistoryChanges {
    std::vector<Receipt> receipts = {};
    std::vector<LiveRow> started = {};
    std::vector<LateReport> reports = {}; ///< late reports; a report can change a receipt in `receipts` (see amend())
};

/// Reads and writes the database. Only one thread at a time may use a History. Every method of History can wait for the disk, so
/// pinfoldd's loop uses AsyncHistory in place of History.
class History {
public:
    enum class Mode { ReadWrite, ReadOnly };

    /// Opens the database. ReadWrite creates the file if it does not exist, and migrates a file of an older pinfold to the newest
    /// schema. A migration usually takes a moment. The migration of 1,000,000 receipts from schema 1 takes some 40 s. For the
    /// migration, the free space on the disk must be at least as large as the file. Before each migration, open() calls
    /// `beforeMigration`. The connection uses WAL and synchronous=FULL, so the changes are durable when write() returns. If the
    /// file is incomplete or is not a database of sqlite, a method of History fails with the error Damaged. If the file is a
    /// complete database, and a method of History fails, the error is usually Internal. An error contains sqlite's own message.
    /// If open() fails, the error's message contains the file's path.
    static Result<History> open(const std::filesystem::path& file, Mode mode, const std::function<void()>& beforeMigration = {});
    History(History&&) noexcept;
    History& operator=(History&&) noexcept;
    ~History();

    /// Writes all changes in one transaction. The transaction is durable when write() returns. If a receipt with the same id is
    /// stored already, write() does not change the stored receipt. After a crash, pinfoldd writes some receipts again that the
    /// history already contains. The result contains the stored receipts, with sequence and epoch, in the order of
    /// `changes.receipts`. A job is live from `started` until its receipt is written, and
    /// cannot become live again.
    Result<std::vector<Receipt>> write(const HistoryChanges& changes);
    /// Returns the jobs that write() has marked as live.
    Result<LiveTable> live() const;
    /// Returns the receipts that match the filter, the newest first. The function list() reads only indexes, unless the file
    /// has schema 1 and was opened ReadOnly.
    Result<std::vector<Receipt>> list(const ReceiptFilter& filter) const;
    /// Returns Receipt::profile of the receipt with the given id. The result is empty if the receipt has no profile or does not
    /// exist.
    Result<std::string> profile(const std::string& id) const;
    /// Returns the largest number n in the keys of the form "manual.<n>", or 0 if the history has no such key.
    Result<std::uint64_t> lastManualNumber() const;
    Result<HistoryInfo> info() const;
    /// Returns how many of the history's sequences are higher than the sequence in `sentFile` (see SentPosition). The sequence of
    /// a removed receipt counts as unsent until `sentFile` contains that sequence or a higher one. A call reads two rows.
    Result<std::uint64_t> unsent(const std::filesystem::path& sentFile) const;
    /// Returns false if the connection does not see changes that other programs write after the file was opened. If
    /// followsWriters() returns false, the connection has Mode::ReadOnly.
    bool followsWriters() const;

    /// Removes receipts that exceed `retention`, but at most `maxRows` receipts (1 or more). vacuum() returns at most 2 *
    /// `maxRows` free pages of the file to the file system. vacuum() first removes receipts that are too old. If the file is
    /// still too large, vacuum() removes the oldest receipts of the user who has the most receipts. If Retention::unsent is set,
    /// vacuum() keeps unsent receipts while the used pages of the file have at most KeepUnsent::maxBytes bytes. The function
    /// vacuum() can remove up to `maxRows` receipts more than necessary. In a history of 1,000,000 receipts, vacuum() needs some
    /// 10 ms to remove 100 receipts that are too old. If the file is too large, vacuum() needs some 250 ms to remove 100
    /// receipts. After an error, vacuum() has removed nothing.
    Result<Vacuumed> vacuum(const Retention& retention, RealTime now, std::size_t maxRows);
    /// Returns the total result that repeated calls of vacuum() would have. In one transaction, tryVacuum() removes receipts
    /// until the history no longer exceeds `retention`. tryVacuum() always rolls the transaction back, so the history keeps all
    /// receipts. During the transaction, nobody else can write to the history. If tryVacuum() needs longer than `patience`,
    /// tryVacuum() fails with TimedOut.
    Result<Vacuumed> tryVacuum(const Retention& retention, RealTime now, std::size_t maxRows, Microseconds patience);

private:
    struct Impl;
    explicit History(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
