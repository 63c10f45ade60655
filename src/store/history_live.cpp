// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history_live.hpp"

#include "model/receipt_json.hpp"

#include <functional>

namespace pinfold {
namespace {

using sqlite::Statement;

/// Reads a row of `live`. The table `live` has separate columns for the most important data, because the JSON text of a row can
/// be unreadable. After a return to an older version of pinfold, a JSON text of the newer version can be unreadable.
LiveRow liveRowOf(const Statement& row) {
    LiveRow job{.bootId = std::string(row.text(0)), .receipt = {}};
    if (auto receipt = decodeReceipt(row.text(1))) {
        job.receipt = *std::move(receipt);
        return job;
    }
    job.receipt.id = row.text(2);
    job.receipt.key = row.text(3);
    job.receipt.uid = static_cast<uid_t>(row.number(4));
    job.receipt.started = row.time<RealTime>(5);
    return job;
}

Result<void> eachRow(sqlite3* db, const char* sql, const std::function<void(const Statement&)>& use) {
    const auto statement = Statement::prepare(db, sql);
    if (!statement)
        return statement.error();
    return statement->forEachRow([&]() -> Result<void> {
        use(*statement);
        return {};
    });
}

} // namespace

Result<LiveTable> readLive(sqlite3* db) {
    LiveTable live;
    auto read = eachRow(db, "SELECT boot, receipt, id, key, uid, started FROM live ORDER BY id",
                        [&](const Statement& row) { live.rows.push_back(liveRowOf(row)); });
    if (read)
        read = eachRow(db, "SELECT boot_id, real FROM clock", [&](const Statement& row) {
            live.lastVacuum = {.bootId = std::string(row.text(0)), .time = row.time<RealTime>(1)};
        });
    if (read)
        read = eachRow(db, "SELECT ended FROM receipts ORDER BY ended DESC LIMIT 1",
                       [&](const Statement& row) { live.newestEnd = row.time<RealTime>(0); });
    if (!read)
        return read.error();
    return live;
}

} // namespace pinfold
