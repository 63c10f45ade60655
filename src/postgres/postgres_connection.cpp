// SPDX-License-Identifier: LGPL-2.1-or-later
#include "postgres/postgres_connection.hpp"

#include "postgres/connect_error.hpp"
#include "postgres/host_addresses.hpp"

#include <fmt/core.h>
#include <libpq-fe.h>
#include <poll.h>

#include <cstring>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

struct ResultCloser {
    void operator()(PGresult* result) const { ::PQclear(result); }
};
using ResultHandle = std::unique_ptr<PGresult, ResultCloser>;

// Every host can change the default settings of its database role. A changed default setting affects all hosts with the same
// role. An attacker who controls one host must not be able to stop other hosts by changing the role's settings. Each connection
// replaces the role's settings with the fixed values in kSettings.
constexpr const char* kSettings = "-c default_transaction_read_only=off -c default_transaction_isolation=read\\ committed"
                                  " -c statement_timeout=0 -c lock_timeout=0 -c idle_session_timeout=0"
                                  " -c idle_in_transaction_session_timeout=60s -c synchronous_commit=on"
                                  " -c local_preload_libraries= -c tcp_user_timeout=0 -c jit=off"
                                  " -c search_path=pg_catalog -c DateStyle=ISO -c TimeZone=UTC -c IntervalStyle=postgres";

/// Returns the parameters for PQconnectStartParams(). The result lacks the parameters whose value is empty. connectParameters()
/// passes the host's address to libpq, so libpq does not ask the name servers. libpq connects to the address, but compares the
/// host's name with the server's certificate.
std::vector<std::pair<const char*, std::string>> connectParameters(const PostgresServer& server, const std::string& address) {
    std::vector<std::pair<const char*, std::string>> list{
        {"host", server.host},       {"hostaddr", address},     {"port", std::to_string(server.port)},
        {"dbname", server.database}, {"user", server.user},     {"application_name", server.applicationName},
        {"client_encoding", "UTF8"}, {"gssencmode", "disable"}, {"options", kSettings},
    };
    if (!server.isLocal()) {
        list.emplace_back("sslmode", "verify-full");
        list.emplace_back("sslcert", server.certificate);
        list.emplace_back("sslkey", server.key);
        list.emplace_back("sslrootcert", server.ca);
    }
    std::erase_if(list, [](const auto& parameter) { return parameter.second.empty(); });
    return list;
}

pg_conn* startConnect(const PostgresServer& server, const std::string& address) {
    const auto list = connectParameters(server, address);
    std::vector<const char*> names;
    std::vector<const char*> values;
    for (const auto& [name, value] : list) {
        names.push_back(name);
        values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    return ::PQconnectStartParams(names.data(), values.data(), 0);
}

/// Waits for `events` on the connection's socket. Returns the events that happened, or 0 if the deadline has passed.
short waitFor(const pg_conn* connection, short events, const Deadline& deadline) {
    pollfd socket{::PQsocket(connection), events, 0};
    while (!deadline.passed())
        if (::poll(&socket, 1, deadline.remainingMs()) > 0)
            return socket.revents;
    return 0;
}

PostgresRows rowsOf(const PGresult* result) {
    PostgresRows out;
    const int columns = ::PQnfields(result);
    for (int column = 0; column < columns; ++column)
        out.columns.emplace_back(::PQfname(result, column));
    out.rows.resize(static_cast<std::size_t>(::PQntuples(result)));
    for (int row = 0; row < ::PQntuples(result); ++row)
        for (int column = 0; column < columns; ++column) {
            auto& value = out.rows[static_cast<std::size_t>(row)].emplace_back();
            if (!::PQgetisnull(result, row, column))
                value.emplace(::PQgetvalue(result, row, column), static_cast<std::size_t>(::PQgetlength(result, row, column)));
        }
    return out;
}

/// Returns the ErrorCode that corresponds to an SQLSTATE (reference: appendix A of PostgreSQL's manual).
ErrorCode codeOf(std::string_view sqlState) {
    if (sqlState.starts_with("28") || sqlState == "42501")
        return ErrorCode::Denied;
    if (sqlState == "57014" || sqlState == "55P03") // a statement or a lock has reached the server's own time limit
        return ErrorCode::TimedOut;
    // The SQLSTATE 08xxx means that the connection is lost. 57Pxx means that the server shuts down or starts. 53300 means that
    // the server has too many connections.
    if (sqlState.starts_with("08") || sqlState.starts_with("57P") || sqlState == "53300")
        return ErrorCode::Unreachable;
    return ErrorCode::Internal;
}

} // namespace

void PostgresConnection::Closer::operator()(pg_conn* connection) const { ::PQfinish(connection); }

Result<PostgresConnection> PostgresConnection::connect(const PostgresServer& server, Microseconds timeout) {
    const Deadline deadline(timeout);
    if (auto readable = checkFiles(server); !readable)
        return readable.error();
    if (server.isLocal())
        return connectTo(server, {}, deadline);
    const auto addresses = hostAddresses(server.host, deadline);
    if (!addresses)
        return Error{addresses.error().code,
                     fmt::format("cannot connect to {}: {}", serverName(server), addresses.error().message)};
    // Each address gets only a part of the remaining time, so that connect() can still try the next address.
    for (auto left = addresses->size(); left > 1; --left)
        if (auto connection = connectTo(server, (*addresses)[addresses->size() - left], Deadline(deadline.remaining() / left)))
            return connection;
    return connectTo(server, addresses->back(), deadline);
}

Result<PostgresConnection> PostgresConnection::connectTo(const PostgresServer& server, const std::string& address,
                                                         const Deadline& deadline) {
    Handle handle(startConnect(server, address));
    if (!handle)
        return Error{ErrorCode::Internal, fmt::format("cannot connect to {}: there is not enough memory", serverName(server))};
    // With PQERRORS_VERBOSE, the message of a failed connection contains the SQLSTATE. libpq has no function that returns the
    // SQLSTATE of a failed connection.
    ::PQsetErrorVerbosity(handle.get(), PQERRORS_VERBOSE);
    ::PQsetNoticeProcessor(
        handle.get(), [](void*, const char*) {}, nullptr);
    short events = POLLOUT;
    while (::PQstatus(handle.get()) != CONNECTION_BAD) {
        if (waitFor(handle.get(), events, deadline) == 0)
            return Error{ErrorCode::TimedOut,
                         fmt::format("cannot connect to {}: it did not answer in time; check the network and the server's load",
                                     serverName(server))};
        const auto state = ::PQconnectPoll(handle.get());
        if (state == PGRES_POLLING_OK) {
            ::PQsetErrorVerbosity(handle.get(), PQERRORS_DEFAULT);
            ::PQsetnonblocking(handle.get(), 1);
            return PostgresConnection(std::move(handle));
        }
        events = state == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    }
    return connectError(server, ::PQerrorMessage(handle.get()));
}

Result<PostgresRows> PostgresConnection::run(const std::string& sql, const std::vector<std::optional<std::string>>& parameters,
                                             Microseconds timeout) {
    std::vector<const char*> values;
    for (const auto& parameter : parameters)
        values.push_back(parameter ? parameter->c_str() : nullptr);
    const Deadline deadline(timeout);
    return finish(handle_ && ::PQsendQueryParams(handle_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                                                 values.data(), nullptr, nullptr, 0) == 1,
                  deadline);
}

Result<void> PostgresConnection::runScript(const std::string& sql, Microseconds timeout) {
    const Deadline deadline(timeout);
    if (auto done = finish(handle_ && ::PQsendQuery(handle_.get(), sql.c_str()) == 1, deadline); !done)
        return done.error();
    return {};
}

Result<PostgresRows> PostgresConnection::finish(bool sent, const Deadline& deadline) {
    sqlState_.clear();
    if (!sent)
        return lost();
    Result<PostgresRows> outcome = PostgresRows{};
    for (;;) {
        if (auto ready = await(deadline); !ready)
            return ready.error();
        const ResultHandle result(::PQgetResult(handle_.get()));
        if (!result)
            break;
        const auto status = ::PQresultStatus(result.get());
        // The first error of a script ends the script.
        if (status == PGRES_TUPLES_OK && outcome)
            outcome = rowsOf(result.get());
        else if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_EMPTY_QUERY)
            outcome = statementFailed(result.get());
    }
    if (::PQstatus(handle_.get()) == CONNECTION_BAD)
        return outcome ? lost() : (handle_.reset(), outcome);
    return outcome;
}

Result<void> PostgresConnection::await(const Deadline& deadline) {
    for (;;) {
        const int unsent = ::PQflush(handle_.get());
        if (unsent < 0)
            return lost();
        if (unsent == 0 && ::PQisBusy(handle_.get()) == 0)
            return {};
        // While libpq still sends the statement, await() already reads the server's answer. The server sometimes reads the rest
        // of the statement only after await() has read a part of the answer.
        if (auto exchanged = exchange(static_cast<short>(unsent ? POLLIN | POLLOUT : POLLIN), deadline); !exchanged)
            return exchanged;
    }
}

Result<void> PostgresConnection::exchange(short events, const Deadline& deadline) {
    const auto happened = waitFor(handle_.get(), events, deadline);
    if (happened == 0) {
        handle_.reset();
        return Error{ErrorCode::TimedOut,
                     "PostgreSQL did not answer in time, so the connection was closed; the server may be busy"};
    }
    if ((happened & ~POLLOUT) != 0 && ::PQconsumeInput(handle_.get()) == 0)
        return lost();
    return {};
}

Error PostgresConnection::statementFailed(const pg_result* result) {
    const auto* state = ::PQresultErrorField(result, PG_DIAG_SQLSTATE);
    if (!state)
        return {ErrorCode::Unreachable,
                fmt::format("the connection to PostgreSQL is lost: {}", oneLine(::PQresultErrorMessage(result)))};
    sqlState_ = state;
    const auto* text = ::PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    return {codeOf(sqlState_), fmt::format("PostgreSQL says: {} (SQLSTATE {})", oneLine(text ? text : ""), sqlState_)};
}

Error PostgresConnection::lost() {
    Error error{ErrorCode::Unreachable, "the connection to PostgreSQL is lost"};
    if (handle_)
        error.message += ": " + oneLine(::PQerrorMessage(handle_.get()));
    handle_.reset();
    return error;
}

} // namespace pinfold
