// SPDX-License-Identifier: LGPL-2.1-or-later
#include "store/history_profiles.hpp"

namespace pinfold {
namespace {

using sqlite::Statement;

constexpr std::uint64_t kSchemaWithProfiles = 5;

} // namespace

Result<void> addProfile(sqlite3* db, const Receipt& receipt) {
    if (receipt.profile.empty())
        return {};
    const auto statement =
        Statement::prepare(db, "INSERT INTO profiles (number, profile) SELECT number, :profile FROM receipts WHERE id = :id");
    if (!statement)
        return statement.error();
    statement->bind(":id", receipt.id);
    statement->bindBytes(":profile", receipt.profile);
    return statement->finish();
}

Result<std::string> readProfile(const HistoryDatabase& file, const std::string& id) {
    if (file.schema < kSchemaWithProfiles)
        return std::string();
    const auto statement =
        Statement::prepare(file.db.get(), "SELECT profile FROM profiles JOIN receipts USING (number) WHERE id = :id");
    if (!statement)
        return statement.error();
    statement->bind(":id", id);
    const auto row = statement->step();
    if (!row)
        return row.error();
    return *row ? std::string(statement->bytes(0)) : std::string();
}

Result<void> readProfiles(sqlite3* db, std::vector<Receipt>& receipts) {
    const auto statement = Statement::prepare(db, "SELECT profile FROM profiles WHERE number = :number");
    if (!statement)
        return statement.error();
    for (auto& receipt : receipts) {
        statement->bind(":number", receipt.sequence.value_or(0));
        const auto row = statement->step();
        if (!row)
            return row.error();
        if (*row)
            receipt.profile = statement->bytes(0);
        statement->reset();
    }
    return {};
}

} // namespace pinfold
