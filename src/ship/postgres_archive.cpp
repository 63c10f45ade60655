// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/postgres_archive.hpp"

#include "base/escape.hpp"
#include "base/hexadecimal.hpp"
#include "base/parse.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace pinfold {
namespace {

// put() with 500 receipts takes about 50 ms without profiles, and about 100 ms with profiles. The time limits are long enough for
// a busy archive. If the archive never answers, a call fails at its time limit.
constexpr Microseconds kConnect = 10s;
constexpr Microseconds kPosition = 20s;
constexpr Microseconds kPut = 60s;

constexpr const char* kAskPosition = "SELECT pinfold.position($1, $2)";
constexpr const char* kPutLot = "SELECT \"position\", (extract(epoch FROM server_time) * 1000000)::bigint, missing FROM "
                                "pinfold.put($1, $2, $3, $4::bigint, $5::bigint, $6::bigint,"
                                " timestamptz 'epoch' + $7::bigint * interval '1 microsecond', $8::text[], $9::bytea[])";
constexpr const char* kInvalidParameter = "22023";

/// Returns the numbers in the archive's answer. numbersOf() checks the answer, because a faulty archive can send any answer.
template <std::size_t N> Result<std::array<std::uint64_t, N>> numbersOf(const PostgresRows& answer) {
    if (answer.rows.size() != 1 || answer.rows.front().size() != N)
        return Error{ErrorCode::Internal,
                     fmt::format("the archive has not answered one row with {}", counted(N, "number", "numbers"))};
    std::array<std::uint64_t, N> numbers{};
    for (std::size_t i = 0; i < N; ++i) {
        const auto text = answer.rows.front()[i].value_or("");
        const auto number = parseUnsigned(text);
        if (!number)
            return Error{ErrorCode::Internal,
                         fmt::format("the archive has answered \"{}\" instead of a number", printable(text, 50))};
        numbers[i] = *number;
    }
    return numbers;
}

} // namespace

std::string bytesText(const std::string& bytes) { return bytes.empty() ? "" : "\\x" + hexadecimal(bytes); }

std::string arrayText(const std::vector<std::string>& texts) {
    std::string array = "{";
    for (const auto& text : texts) {
        array += array.size() > 1 ? ",\"" : "\"";
        for (const char c : text) {
            if (c == '"' || c == '\\')
                array += '\\';
            array += c;
        }
        array += '"';
    }
    return array + "}";
}

Result<void> PostgresArchive::connect() {
    if (connection_)
        return {};
    // An administrator can renew the certificate at any time, so each new connection reads the certificate's file again.
    auto certificate = readCertificate(config_.certificate);
    if (!certificate)
        return certificate.error();
    certificate_ = *std::move(certificate);
    auto connected = PostgresConnection::connect({.host = config_.server,
                                                  .port = config_.port,
                                                  .database = config_.database,
                                                  .user = "pinfold_node",
                                                  .certificate = config_.certificate,
                                                  .key = config_.key,
                                                  .ca = config_.ca,
                                                  .applicationName = "pinfold-ship"},
                                                 kConnect);
    if (!connected)
        return connected.error();
    connection_ = *std::move(connected);
    return {};
}

void PostgresArchive::rest() {
    if (connection_ && BootClock::now() >= used_ + kIdle)
        connection_.reset();
}

template <std::size_t N>
Result<std::array<std::uint64_t, N>> PostgresArchive::ask(const std::string& sql, Parameters parameters, Microseconds timeout) {
    if (auto connected = connect(); !connected)
        return connected.error();
    parameters.insert(parameters.begin(), certificate_->name);
    const auto answer = connection_->run(sql, parameters, timeout);
    used_ = BootClock::now();
    if (!answer) {
        const bool behind = connection_->lastSqlState() == kInvalidParameter;
        if (!behind)
            connection_.reset();
        return behind ? Error{ErrorCode::InvalidArgument, answer.error().message} : answer.error();
    }
    auto numbers = numbersOf<N>(*answer);
    if (!numbers)
        connection_.reset();
    return numbers;
}

Result<std::uint64_t> PostgresArchive::position(const std::string& epoch) {
    const auto answer = ask<1>(kAskPosition, {epoch}, kPosition);
    return answer ? Result<std::uint64_t>(answer->front()) : answer.error();
}

Result<std::uint64_t> PostgresArchive::put(const Lot& lot) {
    if (auto connected = connect(); !connected) // connect() can be slow, so put() connects before it reads the clock
        return connected.error();
    std::vector<std::string> profiles;
    std::ranges::transform(lot.profiles, std::back_inserter(profiles), bytesText);
    const auto sent = RealClock::now();
    const auto answer =
        ask<3>(kPutLot,
               {bootId_, lot.epoch, std::to_string(lot.first), std::to_string(lot.last), std::to_string(lot.newest),
                std::to_string(toUsec(sent)), arrayText(lot.receipts), arrayText(profiles)},
               kPut);
    if (!answer)
        return answer.error();
    const auto [position, serverTime, missing] = *answer;
    view_ = ArchiveView{clockOffset(sent, fromUsec<RealTime>(serverTime), RealClock::now()), missing};
    return position;
}

} // namespace pinfold
