// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/history.hpp"

#include "model/job_record.hpp"
#include "os/history_query.hpp"
#include "os/history_schema.hpp"

namespace pinfold {
namespace {

using sqlite::Statement;
using sqlite::Transaction;

// Users choose the scheduler's name. Beyond 32 names, those that come share kinds with '' for a scheduler, else a user could make
// kinds without end, and every query looks at each.
constexpr const char* kAddKind =
    "INSERT OR IGNORE INTO kinds (scheduler, result, exit_ok, leftovers) VALUES ("
    " CASE WHEN :scheduler IN (SELECT scheduler FROM kinds)"
    "   OR (SELECT count(DISTINCT scheduler) FROM kinds WHERE scheduler <> '') < 32 THEN :scheduler ELSE '' END,"
    " :result, :exit_ok, :leftovers)";

constexpr const char* kAddReceipt =
    "INSERT OR IGNORE INTO receipts (id, key, uid, ended, receipt, kind) VALUES (:id, :key, :uid, :ended, :receipt,"
    " (SELECT kind FROM kinds WHERE scheduler IN (:scheduler, '') AND result = :result AND exit_ok = :exit_ok"
    "  AND leftovers = :leftovers ORDER BY scheduler DESC LIMIT 1))";

void bindKind(const Statement& statement, const Receipt& receipt) {
    const std::string_view key = receipt.key;
    statement.bind(":scheduler", key.substr(0, key.find('.')));
    statement.bind(":result", toString(receipt.result));
    statement.bind(":exit_ok", std::uint64_t{receipt.result == JobResult::Exited && receipt.exit.status == 0});
    statement.bind(":leftovers", std::uint64_t{receipt.leftovers.count > 0});
}

} // namespace

struct History::Impl {
    HistoryDatabase file;
    Statement addKind;
    Statement addReceipt;

    sqlite3* db() const { return file.db.get(); }
    Result<void> prepare();
    Result<void> add(const Receipt& receipt) const;
};

Result<void> History::Impl::prepare() {
    for (const auto& [statement, sql] : {std::pair{&addKind, kAddKind}, {&addReceipt, kAddReceipt}}) {
        auto prepared = Statement::prepare(db(), sql);
        if (!prepared)
            return prepared.error();
        *statement = std::move(*prepared);
    }
    return {};
}

Result<void> History::Impl::add(const Receipt& receipt) const {
    bindKind(addKind, receipt);
    if (auto done = addKind.finish(); !done)
        return done;
    const auto text = encode(receipt);
    bindKind(addReceipt, receipt);
    addReceipt.bind(":id", receipt.id);
    addReceipt.bind(":key", receipt.key);
    addReceipt.bind(":uid", receipt.uid);
    addReceipt.bind(":ended", receipt.ended);
    addReceipt.bind(":receipt", text);
    return addReceipt.finish();
}

History::History(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

Result<History> History::open(const std::filesystem::path& file, Mode mode) {
    auto opened = mode == Mode::ReadWrite ? openHistoryFile(file) : openHistoryFileReadOnly(file);
    if (!opened)
        return opened.error();
    auto impl = std::make_unique<Impl>();
    impl->file = *std::move(opened);
    if (mode == Mode::ReadWrite)
        if (auto prepared = impl->prepare(); !prepared)
            return prepared.error();
    return History(std::move(impl));
}

Result<void> History::add(const std::vector<Receipt>& receipts) {
    if (receipts.empty())
        return {};
    auto transaction = Transaction::begin(impl_->db());
    if (!transaction)
        return transaction.error();
    for (const auto& receipt : receipts)
        if (auto added = impl_->add(receipt); !added)
            return added;
    return transaction->commit();
}

Result<std::vector<Receipt>> History::list(const ReceiptFilter& filter) const { return listReceipts(impl_->file, filter); }

Result<std::uint64_t> History::lastManualNumber() const {
    return sqlite::queryNumber(
        impl_->db(),
        "SELECT coalesce(max(cast(substr(key, 8) AS INTEGER)), 0) FROM receipts WHERE key >= 'manual.' AND key < 'manual/'");
}

} // namespace pinfold
