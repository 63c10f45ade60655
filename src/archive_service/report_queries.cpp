// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/report_queries.hpp"

#include "base/escape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <system_error>

namespace pinfold {

Result<std::vector<ReportQuery>> readReportQueries(const std::filesystem::path& directory) {
    const auto unreadable = [](const std::filesystem::path& path) {
        return Error{ErrorCode::Internal,
                     fmt::format("the queries of the site report cannot be read: {}: install the package pinfold-archive again",
                                 printable(path.string(), 300))};
    };
    std::vector<ReportQuery> queries;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(directory, failed)) {
        if (entry.path().extension() != ".sql")
            continue;
        std::ifstream file(entry.path());
        std::string sql(std::istreambuf_iterator<char>(file), {});
        if (!file || sql.empty())
            return unreadable(entry.path());
        queries.push_back({.name = entry.path().stem().string(), .sql = std::move(sql)});
    }
    if (failed || queries.empty())
        return unreadable(directory);
    std::ranges::sort(queries, {}, &ReportQuery::name);
    return queries;
}

} // namespace pinfold
