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

// A put of 500 receipts takes some 50 ms. The time limits are long enough for a busy archive, and end a call to an archive that
// hangs.
constexpr Microseconds kConnect = 10s;
constexpr Microseconds kPosition = 20s;
constexpr Microseconds kPut = 60s;

constexpr const char* kAskPosition = "SELECT pinfold.position($1, $2)";
constexpr const char* kPutLot = "SELECT \"position\" FROM pinfold.put($1, $2, $3, $4::bigint, $5::bigint, $6::bigint,"
                                " timestamptz 'epoch' + $7::bigint * interval '1 microsecond', $8::text[], $9::bytea[])";
constexpr const char* kInvalidParameter = "22023";

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
    // A certificate may be renewed at any time, so each connection uses the file as it is now.
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

Result<std::uint64_t> PostgresArchive::ask(const std::string& sql, Parameters parameters, Microseconds timeout) {
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
    const auto& rows = answer->rows;
    const auto text = rows.size() == 1 && rows.front().size() == 1 ? rows.front().front().value_or("") : "";
    auto position = parseUnsigned(text);
    if (!position) {
        connection_.reset();
        return Error{ErrorCode::Internal,
                     fmt::format("the archive has answered \"{}\", which is not a position", printable(text, 50))};
    }
    return position;
}

Result<std::uint64_t> PostgresArchive::position(const std::string& epoch) { return ask(kAskPosition, {epoch}, kPosition); }

Result<std::uint64_t> PostgresArchive::put(const Lot& lot) {
    std::vector<std::string> profiles;
    std::ranges::transform(lot.profiles, std::back_inserter(profiles), bytesText);
    return ask(kPutLot,
               {bootId_, lot.epoch, std::to_string(lot.first), std::to_string(lot.last), std::to_string(lot.newest),
                std::to_string(toUsec(RealClock::now())), arrayText(lot.receipts), arrayText(profiles)},
               kPut);
}

} // namespace pinfold
