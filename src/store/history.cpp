// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history.hpp"

#include "base/deadline.hpp"
#include "base/parse.hpp"
#include "model/receipt_json.hpp"
#include "store/history_live.hpp"
#include "store/history_profiles.hpp"
#include "store/history_query.hpp"
#include "store/history_schema.hpp"
#include "store/history_vacuum.hpp"

namespace pinfold {
namespace {

using sqlite::Statement;
using sqlite::Transaction;

// At most 32 schedulers have their own rows in the table `kinds`. Users choose the scheduler's name. The table `kinds` must not
// grow without limit, because every query looks at each row of `kinds`. All schedulers after the first 32 share the rows of
// `kinds` whose scheduler name is empty ('').
constexpr const char* kAddKind =
    "INSERT OR IGNORE INTO kinds (scheduler, result, outcome, leftovers) VALUES ("
    " CASE WHEN :scheduler IN (SELECT scheduler FROM kinds)"
    "   OR (SELECT count(DISTINCT scheduler) FROM kinds WHERE scheduler <> '') < 32 THEN :scheduler ELSE '' END,"
    " :result, :outcome, :leftovers)";

constexpr const char* kKindOfReceipt =
    "(SELECT kind FROM kinds WHERE scheduler IN (:scheduler, '') AND result = :result AND outcome = :outcome"
    " AND leftovers = :leftovers ORDER BY scheduler DESC LIMIT 1)";

// max() compares `last` with the highest number in the table `receipts`, because another program could have added rows to the
// table. If the number of a new receipt were already in use, sqlite would not add the receipt.
constexpr const char* kAddReceipt =
    "INSERT OR IGNORE INTO receipts (number, id, key, uid, ended, receipt, kind)"
    " VALUES ((SELECT max(last, coalesce((SELECT max(number) FROM receipts), 0)) + 1 FROM numbering),"
    " :id, :key, :uid, :ended, :receipt, ";

constexpr const char* kNumberUsed = "UPDATE numbering SET last = :number";

constexpr const char* kChangeReceipt = "UPDATE receipts SET receipt = :receipt, kind = ";

constexpr const char* kStored = "SELECT receipt, number FROM receipts WHERE id = :id";

// A job whose receipt is stored gets no row in `live`. Without WHERE NOT EXISTS, a restarted pinfoldd could add a row to `live`
// for a job that already has a stored receipt. If the job already has a row in `live`, the row gets the newer receipt.
constexpr const char* kAddLive = "INSERT INTO live (id, key, uid, started, boot, receipt)"
                                 " SELECT :id, :key, :uid, :started, :boot, :receipt"
                                 " WHERE NOT EXISTS (SELECT 1 FROM receipts WHERE id = :id)"
                                 " ON CONFLICT (id) DO UPDATE SET receipt = excluded.receipt";

constexpr const char* kRemoveLive = "DELETE FROM live WHERE id = :id";

constexpr const char* kInfo = "SELECT (SELECT min(ended) FROM receipts), (SELECT max(ended) FROM receipts),"
                              " (SELECT count(*) FROM receipts)";

void bindKind(const Statement& statement, const Receipt& receipt) {
    const std::string_view key = receipt.key;
    statement.bind(":scheduler", key.substr(0, key.find('.')));
    statement.bind(":result", toString(receipt.result));
    statement.bind(":outcome", static_cast<std::uint64_t>(outcomeOf(receipt)));
    statement.bind(":leftovers", std::uint64_t{receipt.leftovers.count > 0});
}

} // namespace

struct History::Impl {
    HistoryDatabase file;
    Statement addKind;
    Statement addReceipt;
    Statement numberUsed;
    Statement changeReceipt;
    Statement addLive;
    Statement removeLive;
    Statement stored;
    std::string epoch;

    sqlite3* db() const { return file.db.get(); }
    Result<void> prepare();
    /// Adds the receipt, and returns the stored receipt. If a receipt with the same id was stored before, add() does not change
    /// the stored receipt.
    Result<Receipt> add(const Receipt& receipt) const;
    Result<void> add(const LiveRow& job) const;
    Result<void> amend(const LateReport& report) const;
    Result<std::optional<Receipt>> find(const std::string& id) const;
};

Result<void> History::Impl::prepare() {
    const auto addReceiptSql = std::string(kAddReceipt) + kKindOfReceipt + ")";
    const auto changeReceiptSql = std::string(kChangeReceipt) + kKindOfReceipt + " WHERE id = :id";
    for (const auto& [statement, sql] : {std::pair{&addKind, kAddKind},
                                         {&addReceipt, addReceiptSql.c_str()},
                                         {&numberUsed, kNumberUsed},
                                         {&changeReceipt, changeReceiptSql.c_str()},
                                         {&addLive, kAddLive},
                                         {&removeLive, kRemoveLive},
                                         {&stored, kStored}}) {
        auto prepared = Statement::prepare(db(), sql);
        if (!prepared)
            return prepared.error();
        *statement = std::move(*prepared);
    }
    auto named = epochOf(db());
    if (!named)
        return named.error();
    epoch = *std::move(named);
    return {};
}

Result<std::optional<Receipt>> History::Impl::find(const std::string& id) const {
    stored.bind(":id", id);
    const auto row = stored.step();
    std::optional<Receipt> found;
    if (row && *row)
        if (auto receipt = decodeReceipt(stored.text(0))) {
            found = *std::move(receipt);
            found->sequence = stored.number(1);
            found->epoch = epoch;
        }
    stored.reset();
    if (!row)
        return row.error();
    return found;
}

Result<Receipt> History::Impl::add(const Receipt& receipt) const {
    bindKind(addKind, receipt);
    if (auto done = addKind.finish(); !done)
        return done.error();
    const auto text = encodeForStore(receipt);
    bindKind(addReceipt, receipt);
    addReceipt.bind(":id", receipt.id);
    addReceipt.bind(":key", receipt.key);
    addReceipt.bind(":uid", receipt.uid);
    addReceipt.bind(":ended", receipt.ended);
    addReceipt.bind(":receipt", text);
    if (auto done = addReceipt.finish(); !done)
        return done.error();
    const bool isNew = sqlite3_changes(db()) > 0;
    auto asStored = receipt;
    if (isNew) {
        asStored.sequence = static_cast<std::uint64_t>(sqlite3_last_insert_rowid(db()));
        asStored.epoch = epoch;
        numberUsed.bind(":number", *asStored.sequence);
        if (auto done = numberUsed.finish(); !done)
            return done.error();
    }
    if (auto done = isNew ? addProfile(db(), receipt) : Result<void>(); !done)
        return done.error();
    removeLive.bind(":id", receipt.id);
    if (auto done = removeLive.finish(); !done)
        return done.error();
    if (isNew)
        return asStored;
    auto known = find(receipt.id);
    if (!known)
        return known.error();
    // If the stored receipt is damaged, it stays in the table, and add() does not fail.
    return *known ? **std::move(known) : asStored;
}

Result<void> History::Impl::amend(const LateReport& report) const {
    auto found = find(report.id);
    if (!found)
        return found.error();
    if (!*found || !pinfold::amend(**found, report.exit, report.identity))
        return {};
    (*found)->sequence.reset(); // the JSON text lacks the sequence, because the sequence has its own column
    (*found)->epoch.reset();
    bindKind(addKind, **found);
    if (auto done = addKind.finish(); !done)
        return done;
    const auto text = encodeForStore(**found);
    bindKind(changeReceipt, **found);
    changeReceipt.bind(":id", report.id);
    changeReceipt.bind(":receipt", text);
    return changeReceipt.finish();
}

Result<void> History::Impl::add(const LiveRow& job) const {
    const auto text = encodeForStore(job.receipt);
    addLive.bind(":id", job.receipt.id);
    addLive.bind(":key", job.receipt.key);
    addLive.bind(":uid", job.receipt.uid);
    addLive.bind(":started", job.receipt.started);
    addLive.bind(":boot", job.bootId);
    addLive.bind(":receipt", text);
    return addLive.finish();
}

History::History(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

Result<History> History::open(const std::filesystem::path& file, Mode mode, const std::function<void()>& beforeMigration) {
    auto opened = mode == Mode::ReadWrite ? openHistoryFile(file, beforeMigration) : openHistoryFileReadOnly(file);
    if (!opened)
        return opened.error();
    auto impl = std::make_unique<Impl>();
    impl->file = *std::move(opened);
    if (mode == Mode::ReadWrite)
        if (auto prepared = impl->prepare(); !prepared)
            return prepared.error();
    return History(std::move(impl));
}

Result<std::vector<Receipt>> History::write(const HistoryChanges& changes) {
    std::vector<Receipt> stored;
    if (changes.receipts.empty() && changes.started.empty() && changes.reports.empty())
        return stored;
    auto transaction = Transaction::begin(impl_->db());
    if (!transaction)
        return transaction.error();
    for (const auto& job : changes.started)
        if (auto added = impl_->add(job); !added)
            return added.error();
    for (const auto& receipt : changes.receipts) {
        auto added = impl_->add(receipt);
        if (!added)
            return added.error();
        stored.push_back(*std::move(added));
    }
    for (const auto& report : changes.reports)
        if (auto amended = impl_->amend(report); !amended)
            return amended.error();
    if (auto committed = transaction->commit(); !committed)
        return committed.error();
    return stored;
}

Result<std::string> History::profile(const std::string& id) const { return readProfile(impl_->file, id); }

Result<LiveTable> History::live() const { return readLive(impl_->db()); }

bool History::followsWriters() const { return !impl_->file.immutable; }

Result<std::vector<Receipt>> History::list(const ReceiptFilter& filter) const { return listReceipts(impl_->file, filter); }

Result<std::uint64_t> History::lastManualNumber() const {
    return sqlite::queryNumber(
        impl_->db(),
        "SELECT coalesce(max(cast(substr(key, 8) AS INTEGER)), 0) FROM receipts WHERE key >= 'manual.' AND key < 'manual/'");
}

Result<HistoryInfo> History::info() const {
    const auto bytes = bytesInUse(impl_->db());
    if (!bytes)
        return bytes.error();
    const auto statement = Statement::prepare(impl_->db(), kInfo);
    if (!statement)
        return statement.error();
    if (auto row = statement->step(); !row)
        return row.error();
    HistoryInfo info{.rows = statement->number(2), .bytes = *bytes};
    if (!statement->isNull(0)) {
        info.oldest = statement->time<RealTime>(0);
        info.newest = statement->time<RealTime>(1);
    }
    return info;
}

Result<std::uint64_t> History::unsent(const std::filesystem::path& sentFile) const {
    const auto epoch = epochOf(impl_->db());
    if (!epoch)
        return epoch.error();
    return countUnsent(impl_->db(), *epoch, sentFile);
}

Result<Vacuumed> History::vacuum(const Retention& retention, RealTime now, std::size_t maxRows) {
    auto transaction = Transaction::begin(impl_->db());
    if (!transaction)
        return transaction.error();
    auto done = removeReceipts(impl_->db(), impl_->epoch, retention, now, maxRows);
    if (!done)
        return done;
    if (auto committed = transaction->commit(); !committed)
        return committed.error();
    return done;
}

Result<Vacuumed> History::tryVacuum(const Retention& retention, RealTime now, std::size_t maxRows, Microseconds patience) {
    const Deadline deadline(patience);
    const auto rolledBack = Transaction::begin(impl_->db());
    if (!rolledBack)
        return rolledBack.error();
    Vacuumed sum;
    do {
        if (deadline.passed())
            return Error{ErrorCode::TimedOut,
                         "the dry run needs longer than " + formatDuration(patience) +
                             ", and pinfoldd writes no receipts in this time: ask for a larger age and size, "
                             "so that fewer receipts would be removed"};
        auto done = removeReceipts(impl_->db(), impl_->epoch, retention, now, maxRows);
        if (!done)
            return done;
        sum.removed += done->removed;
        sum.unsent += done->unsent;
        sum.more = done->more;
        sum.bytes = done->bytes;
        sum.clockDoubted = done->clockDoubted;
    } while (sum.more);
    return sum;
}

} // namespace pinfold
