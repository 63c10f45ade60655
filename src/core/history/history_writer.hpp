// SPDX-License-Identifier: LGPL-2.1-or-later
// Brings receipts, and the rows of live jobs, to the history.
#pragma once

#include "core/context.hpp"
#include "core/history/live_rows.hpp"
#include "model/metrics.hpp"
#include "store/receipt_spool.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Why, and since when, receipts cannot be written.
struct HistoryTrouble {
    std::string why;
    std::uint64_t since = 0; ///< CLOCK_REALTIME, microseconds

    bool operator==(const HistoryTrouble&) const = default;
};

/// One transaction at a time is under way. Receipts and rows of live jobs that come meanwhile go into the next transaction,
/// because each transaction costs a flush of the disk. The slower the disk, the more of them share a transaction. A transaction
/// that fails is tried again, for ever.
///
/// A job waits for its receipt no longer than history.patience. Then the receipt is set aside, in a file in /run, and the job's
/// end goes on without it. At most 10,000 receipts and 32 MiB are set aside; beyond that the oldest are lost.
class HistoryWriter {
public:
    HistoryWriter(CoreContext& context, LiveRows& rows);
    ~HistoryWriter();

    /// Opens the history, and writes what an earlier pinfoldd had set aside. `ready` is called when this is done or has failed,
    /// and after 10 s at the latest. Only a migration may take longer.
    void start(std::function<void()> ready);

    /// `done` is called once. When the receipt is durable, `done` gets the stored receipt, which may be an earlier one of the
    /// same job. When the receipt has been set aside, `done` gets it with `unwritten` set.
    void write(Receipt receipt, std::function<void(const Receipt&)> done);
    /// Call this after the last of several write(). The transaction begins now and not when the loop is idle. If another one is
    /// under way, or writing fails, it begins later.
    void commit();

    /// Adds how the leader ended to a receipt that write() got before and that lacks this. `done` is called once: when the
    /// addition is durable, or when writing fails, after which it is tried again. While receipts cannot be written, `done` is
    /// called at once.
    void amend(const std::string& id, const ExitState& exit, const std::function<void()>& done);

    /// The newest receipt of this key (and of this user, if one is named) that has been set aside, or else that is among the last
    /// 256 that were written. An epilogue asks right after its job's end, even while the disk cannot be read.
    std::optional<Receipt> newest(std::string_view key, std::optional<uid_t> owner) const;

    /// Set from the first failure, or from the first receipt that had to be set aside, until all receipts that were set aside are
    /// written.
    const std::optional<HistoryTrouble>& trouble() const { return trouble_; }
    HistoryFigures figures() const;
    std::function<void()> onChange; ///< called when trouble() changes
    /// Called with the key of each receipt that an earlier pinfoldd could not write.
    std::function<void(const JobKey&)> onKept;

private:
    struct Entry {
        Receipt receipt;
        std::function<void(const Receipt&)> done;
        std::uint64_t asked = 0; ///< CLOCK_BOOTTIME, microseconds
        std::size_t size = 0;    ///< bytes of the receipt that was set aside; 0: it was not set aside
    };

    struct Report {
        LateReport report;
        std::function<void()> done;
    };

    void takeUpKept();
    void waitForOpening();
    void started();
    void flushSoon();
    void flush();
    void written(const std::vector<Receipt>& known);
    void failed(const Error& why);
    void remember(const Receipt& receipt);

    std::uint64_t patienceEnds(const Entry& entry) const;
    const Entry* firstWaiting() const;
    void watchPatience();
    void losePatience();
    void setAside(Entry& entry);
    void keep(Entry& entry);
    void answerReports();
    void drop();

    void beginTrouble(const std::string& why);
    void endTrouble();

    CoreContext& context_;
    LiveRows& rows_;
    ReceiptSpool spool_;
    std::function<void()> ready_;
    EventHandle opening_;
    std::deque<Entry> queue_;
    std::vector<Entry> inFlight_;
    std::vector<Report> reports_;
    std::size_t reportsInFlight_ = 0; ///< the first of them
    std::deque<Receipt> recent_;      ///< the receipts that were written last, the newest at the end
    bool busy_ = false;               ///< a transaction is under way
    EventHandle flushSource_;
    EventHandle patience_;
    std::uint64_t retry_ = 0; ///< microseconds until the next try after a failure; 0: there was none
    std::size_t keptCount_ = 0;
    std::size_t keptBytes_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t damaged_ = 0;
    std::optional<HistoryTrouble> trouble_;
    std::uint64_t troubleBegan_ = 0; ///< CLOCK_BOOTTIME, microseconds
    std::uint64_t lateReceipts_ = 0; ///< since the trouble began: receipts that had been set aside and are written now
};

} // namespace pinfold
