// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive/schema.hpp"

#include "archive/patience.hpp"
#include "base/parse.hpp"

#include <fmt/core.h>

namespace pinfold {
namespace {

constexpr const char* kDuplicateDatabase = "42P04";

/// Returns the name in double quotes, so that SQL reads the name as an identifier.
std::string quoted(const std::string& name) {
    std::string out = "\"";
    for (const char c : name)
        out += c == '"' ? "\"\"" : std::string(1, c);
    return out + "\"";
}

} // namespace

Result<std::optional<std::uint64_t>> schemaVersion(PostgresConnection& connection) {
    const auto table = connection.run("SELECT to_regclass('pinfold.schema_version')", {}, kQueryPatience);
    if (!table)
        return table.error();
    if (!table->rows.at(0).at(0))
        return std::optional<std::uint64_t>();
    const auto version = connection.run("SELECT coalesce(max(version), 0) FROM pinfold.schema_version", {}, kQueryPatience);
    if (!version)
        return version.error();
    const auto number = parseUnsigned(version->rows.at(0).at(0).value_or(""));
    if (!number)
        return number.error();
    return std::optional(*number);
}

Result<void> makeDatabase(const PostgresServer& server) {
    auto maintenance = server;
    maintenance.database = "postgres";
    auto connection = PostgresConnection::connect(maintenance, kConnectPatience);
    if (!connection)
        return connection.error();
    const auto made = connection->run(
        fmt::format("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'", quoted(server.database)), {}, kScriptPatience);
    if (!made && connection->lastSqlState() != kDuplicateDatabase)
        return made.error();
    return {};
}

Result<Upgraded> upgradeSchema(PostgresConnection& connection, const std::vector<std::string>& files) {
    const auto version = schemaVersion(connection);
    if (!version)
        return version.error();
    const Upgraded outcome{.from = version->value_or(0), .to = files.size()};
    if (outcome.from > outcome.to)
        return Error{
            ErrorCode::ConfigInvalid,
            fmt::format("the tables of the archive have version {}, but this pinfold-archive knows only versions up to {}: "
                        "install a newer pinfold-archive",
                        outcome.from, outcome.to)};
    for (auto next = outcome.from; next < outcome.to; ++next)
        if (auto done = connection.runScript(files[next], kScriptPatience); !done)
            return Error{done.error().code, fmt::format("version {} of the tables: {}", next + 1, done.error().message)};
    return outcome;
}

} // namespace pinfold
