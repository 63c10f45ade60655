// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/receipt_reader.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace pinfold {
namespace {

// If the database is down, a caller still gets an answer within three seconds. The check of the old connection and the attempt to
// make a new connection must together take less than three seconds.
constexpr Microseconds kCheckTime = 400ms;
constexpr Microseconds kConnectTime = 2s;
// The database server ends a statement after ten seconds. The reader closes the connection only after twelve seconds, so that the
// server always ends the statement first.
constexpr Microseconds kStatementTime = 12s;
constexpr Microseconds kTableTime = 122s;
// The queries of the site report sort many receipts. PostgreSQL sorts receipts twice as fast in memory as on the disk.
constexpr const char* kSettingsOfReport = "SET statement_timeout = '120s'; SET work_mem = '256MB'";
constexpr const char* kSettingsAfterReport = "SET statement_timeout = '10s'; RESET work_mem";
// PostgreSQL's JIT compiler is off. PostgreSQL would need more time to compile a query for all partitions than to run the query.
constexpr const char* kSettings = "SET statement_timeout = '10s'; SET jit = off;"
                                  " SET TimeZone = 'UTC'; SET DateStyle = 'ISO'";
constexpr Microseconds kToldAgain = 60s;
constexpr PageSize kPage{.rows = 200, .bytes = 262'144};

std::string textOf(const std::optional<std::string>& value) { return value.value_or(""); }

Error tooSlow() {
    return {ErrorCode::TimedOut, "the archive did not find the receipts in time: ask for a shorter time with --since and "
                                 "--until, or for one job or one user"};
}

} // namespace

void Outage::noticed(const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || error_->message != error.message || timeBetween(at_, MonotonicClock::now()) > kToldAgain)
        std::fprintf(stderr, "<3>%s\n", error.message.c_str());
    error_ = error;
    at_ = MonotonicClock::now();
}

std::optional<Error> Outage::present() const {
    const std::lock_guard lock(mutex_);
    return error_ && timeBetween(at_, MonotonicClock::now()) < kRemembered ? error_ : std::nullopt;
}

Result<ReceiptPage> ReceiptReader::nextPage(ReceiptRequest& request) {
    if (auto connected = connect(); !connected)
        return connected.error();
    if (!request.begun)
        if (auto begun = begin(request); !begun)
            return begun.error();
    return request.report ? nextTable(request) : nextReceipts(request);
}

Result<ReceiptPage> ReceiptReader::nextTable(ReceiptRequest& request) {
    const auto query = std::move(request.queries.back());
    request.queries.pop_back();
    if (auto set = connection_->runScript(kSettingsOfReport, kCheckTime); !set)
        return set.error();
    auto rows = run({query.sql, {timestamp(request.report->since), timestamp(request.report->until)}}, kTableTime);
    (void)connection_->runScript(kSettingsAfterReport, kCheckTime); // after a failure, the connection is lost and not used again
    if (!rows)
        return rows.error();
    return ReceiptPage{.lines = encode(ReportTable{query.name, std::move(rows->columns), std::move(rows->rows)}),
                       .last = request.queries.empty()};
}

Result<ReceiptPage> ReceiptReader::nextReceipts(ReceiptRequest& request) {
    if (request.left == 0)
        return ReceiptPage{.last = true};
    const auto rows =
        run(pageQuery(request.selection, request.after, {std::min(kPage.rows, request.left), kPage.bytes}), kStatementTime);
    if (!rows)
        return rows.error();
    ReceiptPage page{.last = rows->rows.empty()};
    for (const auto& row : rows->rows)
        page.lines += textOf(row[3]) + "\n";
    if (!page.last) {
        const auto& row = rows->rows.back();
        request.after = ReceiptPlace{.ended = textOf(row[0]), .node = textOf(row[1]), .id = textOf(row[2])};
    }
    request.left -= static_cast<std::uint32_t>(rows->rows.size());
    page.last |= request.left == 0;
    return page;
}

Result<void> ReceiptReader::begin(ReceiptRequest& request) {
    request.begun = true;
    if (request.report) {
        auto queries = readReportQueries(reports_);
        if (!queries)
            return queries.error();
        std::ranges::reverse(*queries);
        request.queries = std::move(*queries);
        return {};
    }
    if (!request.allHostsOf)
        return {};
    if (isKeyOfOneNode(*request.allHostsOf)) {
        request.selection.filter.key = request.allHostsOf;
        request.left = 1;
        return {};
    }
    const auto rows = run(newestRunQuery(*request.allHostsOf, request.selection.visibleTo), kStatementTime);
    if (!rows)
        return rows.error();
    if (rows->rows.empty()) {
        request.left = 0;
        return {};
    }
    const auto& row = rows->rows.front();
    request.selection.run = RunOfJob{.cluster = textOf(row[0]),
                                     .key = *request.allHostsOf,
                                     .run = textOf(row[1]),
                                     .uid = textOf(row[2]),
                                     .since = textOf(row[3])};
    return {};
}

/// Makes a new connection if the old connection does not work. A restart of the server closes the old connection. If the server
/// has vanished from the network, the old connection seems to be open.
Result<void> ReceiptReader::connect() {
    if (connection_ && connection_->run("SELECT 1", {}, kCheckTime))
        return {};
    connection_.reset();
    if (auto error = outage_.present())
        return *std::move(error);
    auto connection = PostgresConnection::connect(server_, kConnectTime);
    auto prepared = connection ? connection->runScript(kSettings, kCheckTime) : Result<void>(connection.error());
    if (!prepared) {
        // No matter why the connection failed, the error code is Unreachable, because users cannot repair any of the causes.
        const Error error{ErrorCode::Unreachable, "the archive of receipts is not reachable: " + prepared.error().message};
        outage_.noticed(error);
        return error;
    }
    connection_ = std::move(*connection);
    return {};
}

Result<PostgresRows> ReceiptReader::run(const SqlQuery& query, Microseconds timeout) {
    auto rows = connection_->run(query.sql, query.parameters, timeout);
    if (rows)
        return rows;
    if (rows.error().code == ErrorCode::TimedOut)
        return tooSlow();
    // If the database refuses the query, the service pinfold-archive lacks a right. The error Denied would mean that the user of
    // the client lacks a right, so run() returns Internal in place of Denied.
    const auto code = rows.error().code == ErrorCode::Unreachable ? ErrorCode::Unreachable : ErrorCode::Internal;
    return Error{code, "the archive of receipts cannot be read: " + rows.error().message};
}

} // namespace pinfold
