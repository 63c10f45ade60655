// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive/role_settings.hpp"

#include "archive/patience.hpp"

namespace pinfold {
namespace {

constexpr const char* kForeign =
    "SELECT r.rolname, setting FROM pg_catalog.pg_db_role_setting s JOIN pg_catalog.pg_roles r ON r.oid = s.setrole,"
    " unnest(s.setconfig) AS setting WHERE r.rolname IN ('pinfold_node', 'pinfold_reader')"
    " AND s.setdatabase IN (0, (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()))"
    " AND NOT (r.rolname = 'pinfold_reader' AND s.setdatabase = 0 AND setting = 'default_transaction_read_only=on')"
    " ORDER BY r.rolname, setting";

constexpr const char* kReset = R"(DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['pinfold_node', 'pinfold_reader'] LOOP
        EXECUTE format('ALTER ROLE %I RESET ALL', name);
        EXECUTE format('ALTER ROLE %I IN DATABASE %I RESET ALL', name, current_database());
        EXECUTE format('ALTER ROLE %I PASSWORD NULL', name);
    END LOOP;
    ALTER ROLE pinfold_reader SET default_transaction_read_only = on;
    -- A node that was taken over must leave connections to the login nodes and to the administrator.
    EXECUTE format('ALTER ROLE pinfold_node CONNECTION LIMIT %s', current_setting('max_connections')::int * 4 / 5);
END
$$)";

} // namespace

Result<std::vector<RoleSetting>> foreignRoleSettings(PostgresConnection& connection) {
    const auto rows = connection.run(kForeign, {}, kQueryPatience);
    if (!rows)
        return rows.error();
    std::vector<RoleSetting> settings;
    for (const auto& row : rows->rows)
        settings.push_back({.role = row.at(0).value_or(""), .setting = row.at(1).value_or("")});
    return settings;
}

Result<void> resetRoles(PostgresConnection& connection) { return connection.runScript(kReset, kScriptPatience); }

} // namespace pinfold
