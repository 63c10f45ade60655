// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Holds one figure of the site report: the answer to one of the queries in src/archive/sql/report.
struct ReportTable {
    std::string name;                 ///< the name of the query's file without ".sql", such as "cpu_by_user"
    std::vector<std::string> columns; ///< the names of the columns; each name ends with a unit, as in "cpu_used_us"
    /// The rows of the answer. Each value is the text that PostgreSQL prints for the value, or nullopt for NULL.
    std::vector<std::vector<std::optional<std::string>>> rows;
};

} // namespace pinfold
