// SPDX-License-Identifier: LGPL-2.1-or-later
// Writes the receipts and the rows of live jobs into the history.
#pragma once

#include "base/clock.hpp"
#include "core/context.hpp"
#include "core/history/live_rows.hpp"
#include "core/history/stored_news.hpp"
#include "core/requests.hpp"
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

/// Says why receipts cannot be written, and since when.
struct HistoryTrouble {
    std::string why;
    RealTime since{};

    bool operator==(const HistoryTrouble&) const = default;
};

/// HistoryWriter runs one transaction at a time, because each transaction costs a flush of the disk. Receipts and rows that come
/// during a transaction wait for the next transaction. The slower the disk is, the more receipts share a transaction.
/// HistoryWriter repeats a failed transaction until the transaction succeeds.
///
/// A job waits until its receipt is in the history, but for at most history.patience. If the receipt cannot be written within
/// history.patience, HistoryWriter sets the receipt aside in a file in /run. When the receipt is set aside, pinfoldd continues to
/// end the job. HistoryWriter sets aside at most 10,000 receipts with at most 32 MiB in total. When the receipts that are set
/// aside exceed 10,000 or 32 MiB, HistoryWriter drops the oldest of these receipts.
class HistoryWriter {
public:
    HistoryWriter(CoreContext& context, LiveRows& rows);
    ~HistoryWriter();

    /// Opens the history, and writes the receipts that an earlier pinfoldd had set aside. HistoryWriter calls `ready` when the
    /// start has succeeded or failed, or after 10 s. If HistoryWriter migrates the database, more than 10 s can pass before the
    /// call of `ready`.
    void start(std::function<void()> ready);

    /// Writes the receipt, and calls `done` once. If the receipt is durable, `done` gets the stored receipt. If the history
    /// already contains a receipt of the job, `done` gets the receipt in the history. If HistoryWriter has set the receipt
    /// aside, `done` gets the receipt, and the member `unwritten` of the receipt is set.
    void write(Receipt receipt, std::function<void(const Receipt&)> done);
    /// Begins the transaction for the receipts that write() has put into the queue. If nobody calls commit(), HistoryWriter
    /// begins the transaction when the loop is idle. If another transaction is running, or if receipts cannot be written, the new
    /// transaction begins later.
    void commit();

    /// Completes an earlier receipt. If the receipt lacks facts that the report has, such as the leader's exit state, amend()
    /// adds the facts. HistoryWriter calls `done` once, after its first attempt to store the changed receipt has succeeded or
    /// failed. After a failure, HistoryWriter tries again to store the changed receipt. While receipts cannot be written,
    /// HistoryWriter calls `done` at once.
    void amend(const LateReport& report, const std::function<void()>& done);

    /// Returns the newest receipt with the key `key`, and with the owner `owner` if `owner` is set. The function newest()
    /// searches the receipts that are set aside, and then the last 64 receipts that were written. An epilogue asks for the
    /// receipt right after the end of its job. newest() must answer even while the disk cannot be read.
    std::optional<Receipt> newest(std::string_view key, std::optional<uid_t> owner) const;

    /// Says why receipts cannot be written at the moment. If receipts can be written, trouble() returns nullopt. trouble()
    /// returns a value after a failure to write, or after HistoryWriter has set a receipt aside. trouble() returns nullopt again
    /// when all receipts that were set aside are in the history.
    const std::optional<HistoryTrouble>& trouble() const { return trouble_; }
    HistoryFigures figures() const;
    std::function<void()> onChange; ///< HistoryWriter calls onChange when trouble() changes
    /// news() tells when transactions have stored receipts.
    StoredNews& news() { return news_; }
    /// HistoryWriter calls onOpened each time it has opened the history's file. The argument of onOpened is the value that
    /// History::lastManualNumber() returns.
    std::function<void(std::uint64_t)> onOpened = [](std::uint64_t) {};
    /// At the start, HistoryWriter calls onKept with the key of each receipt that an earlier pinfoldd could not write.
    std::function<void(const JobKey&)> onKept;

private:
    struct Entry {
        Receipt receipt;
        std::function<void(const Receipt&)> done;
        BootTime asked{};     ///< the time at which the caller asked HistoryWriter to write the receipt
        std::size_t size = 0; ///< the size of the receipt's file in /run, in bytes; 0 if the receipt was not set aside
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
    void written(const std::vector<Receipt>& stored);
    void tellStored(const std::vector<Receipt>& stored);
    void failed(const Error& why);
    void remember(const Receipt& receipt);

    BootTime patienceEnds(const Entry& entry) const;
    /// Returns the first entry for which `isWanted` returns true. firstThat() searches the running transaction first, and the
    /// queue after that. Returns null if `isWanted` returns false for every entry.
    const Entry* firstThat(const std::function<bool(const Entry&)>& isWanted) const;
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
    StoredNews news_;
    std::function<void()> ready_;
    EventHandle opening_;
    std::deque<Entry> queue_;
    std::vector<Entry> inFlight_;
    std::vector<Report> reports_;
    /// The running transaction contains the first reportsInFlight_ elements of `reports_`.
    std::size_t reportsInFlight_ = 0;
    std::deque<Receipt> recent_; ///< the most recently written receipts; the newest receipt is at the end
    bool busy_ = false;          ///< a transaction is in progress
    EventHandle flushSource_;
    EventHandle patience_;
    Microseconds retry_{}; ///< the time until the next try after a failure; 0 if nothing has failed
    std::size_t keptCount_ = 0;
    std::size_t keptBytes_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t damaged_ = 0;
    std::optional<HistoryTrouble> trouble_;
    BootTime troubleBegan_{};
    std::uint64_t lateReceipts_ = 0; ///< how many set-aside receipts HistoryWriter has written since trouble_ was set
};

} // namespace pinfold
