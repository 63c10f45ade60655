// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_client/archive_client.hpp"

#include "base/deadline.hpp"
#include "base/unique_fd.hpp"
#include "model/receipt_json.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

namespace pinfold {
namespace {

// The service answers within some 15 s, unless other requests of the same user come first.
constexpr Microseconds kSilence = 30s;
constexpr Microseconds kPatienceWithBusy = 10s;
constexpr Microseconds kPauseAfterBusy = 100ms;
constexpr std::size_t kMostLine = 16 * 1024 * 1024;
constexpr std::size_t kReadAtOnce = 64 * 1024;

Error unreachable(const std::string& why) {
    return {ErrorCode::Unreachable, "the archive of receipts is not reachable: " + why +
                                        "; look at `systemctl status pinfold-archive.socket pinfold-archive`"};
}

Result<UniqueFd> connectTo(const std::string& path) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // If the queue of the socket is full, connect(2) waits for this time.
    const timeval inLine{.tv_sec = kSilence / 1s, .tv_usec = 0};
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
    explicit Reader(int socket) : socket_(socket) {}

    /// Waits for the next line. The line is valid until the next call.
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
        const Deadline deadline(kSilence);
        while (::poll(&answer, 1, deadline.remainingMs()) <= 0)
            if (deadline.passed())
                return Error{
                    ErrorCode::TimedOut,
                    "the archive's service did not answer within 30 seconds; look at `systemctl status pinfold-archive`"};
        std::array<char, kReadAtOnce> part;
        const auto length = ::recv(socket_, part.data(), part.size(), 0);
        if (length <= 0)
            return unreachable("its service closed the connection before the answer was complete");
        text_.append(part.data(), static_cast<std::size_t>(length));
        return {};
    }

    int socket_;
    std::string text_;
    std::size_t taken_ = 0;
};

Result<ArchiveAnswer> askOnce(const std::string& request, const std::string& socketPath) {
    const auto socket = connectTo(socketPath);
    if (!socket)
        return socket.error();
    // A service that refuses the connection may close it before it has read the request, so only its answer counts.
    (void)!::send(socket->get(), request.data(), request.size(), MSG_NOSIGNAL);
    ArchiveAnswer answer;
    Reader reader(socket->get());
    for (;;) {
        const auto line = reader.line();
        if (!line)
            return line.error();
        if (const auto end = decodeEnd(*line))
            return *end ? Result(std::move(answer)) : end->error();
        auto receipt = decodeReceipt(*line);
        if (receipt)
            answer.receipts.push_back(std::move(*receipt));
        else
            answer.unreadable.push_back(receipt.error().message);
    }
}

} // namespace

Result<ArchiveAnswer> askArchive(const ArchiveQuery& query, const std::string& socketPath) {
    const auto request = encode(query);
    if (request.size() > kMostArchiveRequest)
        return Error{ErrorCode::InvalidArgument, "the question to the archive is too long: use shorter values"};
    const Deadline deadline(kPatienceWithBusy);
    for (;;) {
        auto answer = askOnce(request, socketPath);
        if (answer || answer.error().code != ErrorCode::Busy || deadline.passed())
            return answer;
        std::this_thread::sleep_for(std::chrono::microseconds(toUsec(kPauseAfterBusy)));
    }
}

} // namespace pinfold
