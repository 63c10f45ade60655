// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_client/archive_client.hpp"

#include "base/deadline.hpp"
#include "base/hexadecimal.hpp"
#include "base/parse.hpp"
#include "base/unique_fd.hpp"
#include "model/json.hpp"
#include "model/receipt_json.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <functional>
#include <thread>
#include <utility>

namespace pinfold {
namespace {

// The archive's service usually answers a request within about 15 s. If a user has sent several requests, an answer can take
// longer than 15 s, because the requests wait for each other.
constexpr Microseconds kSilence = 30s;
constexpr Microseconds kSilenceOfReport = 150s; // the server can need two minutes for one table
constexpr Microseconds kPatienceWithBusy = 10s;
constexpr Microseconds kPauseAfterBusy = 100ms;
constexpr std::size_t kMostLine = 16'777'216;
constexpr std::size_t kReadAtOnce = 65'536;

Error unreachable(const std::string& why) {
    return {ErrorCode::Unreachable, "the archive of receipts is not reachable: " + why +
                                        "; look at `systemctl status pinfold-archive.socket pinfold-archive`"};
}

Result<UniqueFd> connectTo(const std::string& path, Microseconds patience) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // If the queue of the socket is full, connect(2) waits, but not longer than `inLine`.
    const timeval inLine{.tv_sec = static_cast<std::time_t>(std::clamp<Microseconds>(patience, 1s, kSilence) / 1s), .tv_usec = 0};
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &inLine, sizeof inLine);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return unreachable(path + ": " + std::strerror(errno));
    return socket;
}

/// Splits the answer into lines.
class Reader {
public:
    Reader(int socket, Microseconds silence) : socket_(socket), silence_(silence) {}

    /// Waits for the next line of the answer. The returned line is valid until the next call of line().
    Result<std::string_view> line() {
        text_.erase(0, std::exchange(taken_, 0));
        std::size_t searched = 0;
        for (;;) {
            if (const auto end = text_.find('\n', searched); end != std::string::npos) {
                taken_ = end + 1;
                return std::string_view(text_).substr(0, end);
            }
            searched = text_.size();
            if (searched > kMostLine)
                return Error{ErrorCode::Internal, "the archive's service sent a line that is too long"};
            if (auto more = receive(); !more)
                return more.error();
        }
    }

private:
    Result<void> receive() {
        pollfd answer{socket_, POLLIN, 0};
        const Deadline deadline(silence_);
        while (::poll(&answer, 1, deadline.remainingMs()) <= 0)
            if (deadline.passed())
                return Error{ErrorCode::TimedOut, "the archive's service did not answer within " + formatDuration(silence_) +
                                                      "; look at `systemctl status pinfold-archive`"};
        std::array<char, kReadAtOnce> part;
        const auto length = ::recv(socket_, part.data(), part.size(), 0);
        if (length <= 0)
            return unreachable("its service closed the connection before the answer was complete");
        text_.append(part.data(), static_cast<std::size_t>(length));
        return {};
    }

    int socket_;
    Microseconds silence_;
    std::string text_;
    std::size_t taken_ = 0;
};

/// Handles a line of an answer, except the last line. If TakeLine returns an error, askOnce() does not read the rest of the
/// answer.
using TakeLine = std::function<Result<void>(std::string_view line)>;

Result<void> askOnce(const std::string& request, const std::string& socketPath, Microseconds silence, const TakeLine& take) {
    const auto socket = connectTo(socketPath, silence);
    if (!socket)
        return socket.error();
    // A service that refuses the connection sometimes closes the connection without reading the request. The client ignores an
    // error of send(2), because the service's answer says what went wrong.
    (void)!::send(socket->get(), request.data(), request.size(), MSG_NOSIGNAL);
    Reader reader(socket->get(), silence);
    for (;;) {
        const auto line = reader.line();
        if (!line)
            return line.error();
        if (const auto end = decodeEnd(*line))
            return *end;
        if (auto taken = take(*line); !taken)
            return taken;
    }
}

/// While the archive's service answers Busy, ask() sends the request again. If the service answers Busy, the answer contains no
/// receipts.
Result<void> ask(const ArchiveQuery& query, const std::string& socketPath, Microseconds silence, const TakeLine& take) {
    const auto request = encode(query);
    if (request.size() > kMostArchiveRequest)
        return Error{ErrorCode::InvalidArgument, "the question to the archive is too long: use shorter values"};
    const Deadline deadline(kPatienceWithBusy);
    for (;;) {
        auto answer = askOnce(request, socketPath, silence, take);
        if (answer || answer.error().code != ErrorCode::Busy || deadline.passed())
            return answer;
        std::this_thread::sleep_for(std::chrono::microseconds(toUsec(kPauseAfterBusy)));
    }
}

/// Returns a copy of `value`, and escapes all control characters in the texts of the copy.
Json legibleJson(const Json& value) {
    const auto legibleText = [](const std::string& text) { return legible(text, 4 * text.size() + 4); };
    if (value.is_string())
        return legibleText(value.get_ref<const std::string&>());
    if (!value.is_structured())
        return value;
    Json out = value.is_array() ? Json::array() : Json::object();
    for (const auto& [name, member] : value.items())
        if (value.is_array())
            out.push_back(legibleJson(member));
        else
            out[legibleText(name)] = legibleJson(member);
    return out;
}

/// Reads a receipt. pinfold prints the texts of a receipt to terminals. An attacker who has taken over a node can put any text
/// into the receipts of the node.
Result<Receipt> readReceipt(std::string_view line) {
    auto receipt = decodeReceipt(line);
    // JSON writes the control characters below U+0020 with a backslash. JSON can contain DEL (U+007F) and the control characters
    // above U+007F without a backslash.
    const auto isPlain = [](char c) { return c != '\\' && static_cast<unsigned char>(c) < 0x7f; };
    if (!receipt || std::ranges::all_of(line, isPlain))
        return receipt;
    return decodeReceipt(dump(legibleJson(parseJson(encode(*receipt)))));
}

/// Reads Receipt::profile. An attacker who has taken over a node can send any bytes in place of a profile. Only decodeProfile()
/// finds out whether the bytes are a profile.
Result<std::string> readProfile(std::string_view line) {
    return decode<std::string>(line, "the profile of a receipt", [](const Json& json) {
        std::optional<std::string> text;
        optionalFromJson(json, "profile", text);
        auto bytes = fromHexadecimal(text.value_or(""));
        if (!bytes)
            throw std::invalid_argument(bytes.error().message);
        return *std::move(bytes);
    });
}

Result<Receipt> readReceiptWithProfile(std::string_view line) {
    auto receipt = readReceipt(line);
    if (!receipt)
        return receipt;
    auto profile = readProfile(line);
    if (!profile)
        return profile.error();
    receipt->profile = *std::move(profile);
    return receipt;
}

} // namespace

Result<ArchiveAnswer> askArchive(const ArchiveQuery& query, const std::string& socketPath) {
    ArchiveAnswer answer;
    const auto read = query.filter.profiles ? readReceiptWithProfile : readReceipt;
    const auto asked = ask(query, socketPath, kSilence, [&answer, read](std::string_view line) -> Result<void> {
        auto receipt = read(line);
        if (receipt)
            answer.receipts.push_back(std::move(*receipt));
        else
            answer.unreadable.push_back(receipt.error().message);
        return {};
    });
    if (!asked)
        return asked.error();
    return answer;
}

Result<void> tryArchive(Microseconds patience, const std::string& socketPath) {
    ArchiveQuery query;
    query.filter.key = "doctor.try"; // the query is fast, because the archive has an index of keys
    query.filter.limit = 1;
    return askOnce(encode(query), socketPath, patience, [](std::string_view) -> Result<void> { return {}; });
}

Result<std::vector<ReportTable>> askForReport(const ReportPeriod& period, const std::string& socketPath) {
    std::vector<ReportTable> tables;
    const auto asked = ask({.report = period}, socketPath, kSilenceOfReport, [&tables](std::string_view line) -> Result<void> {
        auto table = decodeReportTable(line);
        if (!table)
            return Error{ErrorCode::Internal, table.error().message};
        tables.push_back(std::move(*table));
        return {};
    });
    if (!asked)
        return asked.error();
    return tables;
}

} // namespace pinfold
