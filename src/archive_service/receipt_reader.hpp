// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "archive_client/archive_protocol.hpp"
#include "archive_service/receipt_query.hpp"
#include "archive_service/report_queries.hpp"
#include "base/clock.hpp"
#include "postgres/postgres_connection.hpp"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Holds a request for receipts or for the site report, and says which part of the answer has been read.
struct ReceiptRequest {
    ReceiptSelection selection;
    std::optional<std::string> allHostsOf = {}; ///< see ArchiveQuery
    std::uint32_t left = 0;                     ///< how many receipts the answer can still get
    bool begun = false;                         ///< true if the first page of the answer has been read
    std::optional<ReceiptPlace> after = {};     ///< the last receipt that the answer has so far
    std::optional<ReportPeriod> report = {};    ///< see ArchiveQuery
    std::vector<ReportQuery> queries = {};      ///< the queries of the report that have not run yet, in reverse order
};

struct ReceiptPage {
    std::string lines = {}; ///< lines of JSON: one line for each receipt, or a single line for a table
    bool last = false;      ///< no further page follows
};

/// Remembers for a moment why the database cannot be reached. When one thread has found out that the database is down, requests
/// in all threads fail immediately. A request that fails because the database is down gets the error that Outage has stored.
/// Several threads can use one Outage object at the same time.
class Outage {
public:
    static constexpr Microseconds kRemembered = 1s;

    /// Remembers the error, and writes it to standard error. If an error has the same message as the previous error, remember()
    /// writes the message at most once a minute.
    void noticed(const Error& error);
    std::optional<Error> present() const;

private:
    mutable std::mutex mutex_;
    std::optional<Error> error_;
    MonotonicTime at_{};
};

/// Reads receipts from the archive, over a connection of its own. Two threads must never use one ReceiptReader.
class ReceiptReader {
public:
    /// `reports` is the directory with the queries of the site report.
    ReceiptReader(const PostgresServer& server, Outage& outage, const std::filesystem::path& reports)
        : server_(server), outage_(outage), reports_(reports) {}

    /// Reads the next page of the answer. A page of the site report has one table. nextPage() can fail with Unreachable, TimedOut
    /// or Internal. If the database is down, nextPage() returns Unreachable within three seconds. The error is TimedOut if the
    /// server has worked on a page of receipts for ten seconds, or on a table for two minutes.
    Result<ReceiptPage> nextPage(ReceiptRequest& request);

private:
    Result<ReceiptPage> nextReceipts(ReceiptRequest& request);
    Result<ReceiptPage> nextTable(ReceiptRequest& request);
    Result<void> begin(ReceiptRequest& request);
    Result<void> connect();
    Result<PostgresRows> run(const SqlQuery& query, Microseconds timeout);

    const PostgresServer& server_;
    Outage& outage_;
    const std::filesystem::path& reports_;
    std::optional<PostgresConnection> connection_;
};

} // namespace pinfold
