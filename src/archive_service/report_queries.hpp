// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace pinfold {

/// Holds the query for one table of the site report. Its parameters $1 and $2 are the beginning and the end of the time.
struct ReportQuery {
    std::string name; ///< the name of the file without ".sql"
    std::string sql;
};

/// Reads all files NAME.sql in the directory, by name. Error: Internal, if there is none, or a file cannot be read.
Result<std::vector<ReportQuery>> readReportQueries(const std::filesystem::path& directory);

} // namespace pinfold
