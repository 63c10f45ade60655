// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace pinfold {

/// Holds the query for one table of the site report. The parameters $1 and $2 of the query are the beginning and the end of the
/// period.
struct ReportQuery {
    std::string name; ///< the name of the file without ".sql"
    std::string sql;
};

/// Reads all files NAME.sql in the directory, in the order of their names. The error is Internal if the directory has no file
/// NAME.sql, or if a file cannot be read.
Result<std::vector<ReportQuery>> readReportQueries(const std::filesystem::path& directory);

} // namespace pinfold
