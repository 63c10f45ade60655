// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and writes the requests and the answers that pass through the socket of the site's archive. A client sends one request,
// which is one line of JSON: {"filter": {"key": "slurm.4711", "limit": 10}} or {"report": {"since": 1790000000000000, "until":
// 1790600000000000}}. The answer has one line of JSON for each receipt, or for each table of the site report. The last line of
// the answer is {"end":true} or {"error":{"code":"...","message":"..."}}. After the last line of the answer, the service closes
// the connection.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/report_table.hpp"
#include "store/history.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

constexpr const char* kArchiveSocket = "/run/pinfold/archive.sock";
constexpr std::size_t kMostArchiveRequest = 16'384;    ///< the maximum length of a request, in bytes with the line break
constexpr std::uint32_t kMostArchiveReceipts = 10'000; ///< the maximum number of receipts in an answer

/// A site report counts the jobs that ended at the time `since` or later, and before the time `until`.
struct ReportPeriod {
    RealTime since{};
    RealTime until{};

    bool operator==(const ReportPeriod&) const = default;
};

/// Says which receipts of the archive a client wants.
struct ArchiveQuery {
    /// The members `before`, `after` and `epoch` must be unset, because these members refer to the history of a single node. The
    /// archive has receipts of many nodes. If `profiles` is set, each receipt in the answer has an additional member `profile`.
    /// The value of `profile` is hexadecimal digits, or null.
    ReceiptFilter filter = {};
    /// Contains a key. If `allHostsOf` is set to the key of a job, the answer has all receipts of the job's newest run. Each
    /// receipt comes from one of the hosts on which the job ran. If `allHostsOf` is set, all members of `filter` except
    /// `profiles` must have their default values.
    std::optional<std::string> allHostsOf = {};
    /// If `report` is set, the answer has the tables of the site report, and no receipts. If `report` is set, all members except
    /// `report` must have their default values.
    std::optional<ReportPeriod> report = {};

    bool operator==(const ArchiveQuery&) const = default;
};

/// Returns the request as a line of JSON, with the line break.
std::string encode(const ArchiveQuery& query);
/// Reads a request. The caller of decodeArchiveQuery() has to remove the line break at the end of `line`. If an entry is wrong,
/// the error is InvalidArgument, and its message names the entry.
Result<ArchiveQuery> decodeArchiveQuery(std::string_view line);

/// Returns a table of the site report as one line of JSON, with the line break.
std::string encode(const ReportTable& table);
/// Reads a line that encode(const ReportTable&) has written. The caller of decodeReportTable() has to remove the line break at
/// the end of `line`. Error: InvalidArgument.
Result<ReportTable> decodeReportTable(std::string_view line);

/// Returns the last line of an answer, with the line break. If the last line contains no error, no receipt is missing in the
/// answer.
std::string encodeEnd(const Result<void>& outcome);
/// Reads a line of an answer. The caller of decodeEnd() has to remove the line break at the end of `line`. If the line is the
/// last line of the answer, decodeEnd() returns the outcome of the request. Returns nullopt if the line is a receipt. If the line
/// begins with the member `error`, but decodeEnd() cannot read the rest of the line, the error is Internal.
std::optional<Result<void>> decodeEnd(std::string_view line);

} // namespace pinfold
