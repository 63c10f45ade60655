// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/deadline.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct pg_conn;
struct pg_result;

namespace pinfold {

/// Contains the address of a PostgreSQL server, and the user name with which this program connects. If a member is empty, libpq
/// uses its own default.
struct PostgresServer {
    /// The name of a host, or an absolute path of the directory of the server's socket. A connection to a host always has TLS,
    /// and the server's certificate must contain the name of the host.
    std::string host;
    std::uint16_t port = 5432;
    std::string database;
    std::string user;
    std::string certificate; ///< the file of this program's own certificate
    std::string key;         ///< the file of the private key for `certificate`
    std::string ca;          ///< the file of the CA that signed the server's certificate
    std::string applicationName;

    bool isLocal() const { return host.empty() || host.front() == '/'; }
};

struct PostgresRows {
    std::vector<std::string> columns;
    std::vector<std::vector<std::optional<std::string>>> rows; ///< each value as a text; nullopt stands for NULL
};

/// Holds a connection to PostgreSQL. No function of PostgresConnection waits longer than the time limit of the function. The
/// server sends times in UTC and in ISO format. Statements must name the schema of each table.
class PostgresConnection {
public:
    /// Connects to the server. The error is ConfigInvalid if a certificate or a key cannot be used. The error is Denied if the
    /// server refuses the certificate or the user. The error is TimedOut if the time limit is over, and Unreachable in all other
    /// cases. The message of each error tells an administrator how to solve the problem.
    static Result<PostgresConnection> connect(const PostgresServer& server, Microseconds timeout);

    /// Runs one statement with the parameters $1, $2 and so on; nullopt stands for NULL. A parameter ends at its first NUL byte.
    /// Fails with Unreachable if the connection is lost, and with Denied for the SQLSTATEs 28xxx and 42501. After the error
    /// TimedOut, the connection is closed, but the server possibly finishes the statement. run() reports every failure except
    /// Unreachable, Denied and TimedOut as Internal, with the server's message.
    Result<PostgresRows> run(const std::string& sql, const std::vector<std::optional<std::string>>& parameters,
                             Microseconds timeout);

    /// Runs several statements without parameters. If no statement begins or ends a transaction itself, all statements run in one
    /// transaction. runScript() can return every error that run() can return.
    Result<void> runScript(const std::string& sql, Microseconds timeout);

    /// Returns the SQLSTATE of the last statement, if the statement failed. Returns an empty text if the last statement did not
    /// fail, or if the server did not answer.
    const std::string& lastSqlState() const { return sqlState_; }

private:
    struct Closer {
        void operator()(pg_conn* connection) const;
    };
    using Handle = std::unique_ptr<pg_conn, Closer>;

    explicit PostgresConnection(Handle handle) : handle_(std::move(handle)) {}
    /// Connects to one address of the server.
    static Result<PostgresConnection> connectTo(const PostgresServer& server, const std::string& address,
                                                const Deadline& deadline);
    /// `sent` says whether libpq has accepted the statement.
    Result<PostgresRows> finish(bool sent, const Deadline& deadline);
    Result<void> await(const Deadline& deadline);
    Result<void> exchange(short events, const Deadline& deadline);
    Error statementFailed(const pg_result* result);
    Error lost();

    Handle handle_; ///< the connection of libpq; null after a time-out or a loss of the connection
    std::string sqlState_;
};

} // namespace pinfold
