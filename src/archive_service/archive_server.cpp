// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/archive_server.hpp"

#include "archive_client/archive_protocol.hpp"
#include "archive_service/client_socket.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

constexpr int kAcceptedAtOnce = 64; // the server accepts at most 64 new connections before it serves the open connections again
constexpr Microseconds kTimeForRequest = 5s;
constexpr Microseconds kTimeWithoutReading = 10s;
constexpr Microseconds kTimeForAnswer = 5min;
constexpr Microseconds kPauseWithoutDescriptors = 100ms;
constexpr std::size_t kReadAtOnce = 4096;

bool triesAgain() { return errno == EAGAIN || errno == EINTR; }

} // namespace

struct ArchiveServer::Connection {
    enum class State {
        Receiving, ///< the server waits for the rest of the request
        Reading,   ///< the request waits for a thread, or a thread reads the next page for the request
        Sending,   ///< the server sends the page to the client
    };

    ClientSocket socket;
    uid_t uid;
    uid_t countsAs;                ///< the user for whom the server counts the requests
    std::shared_ptr<void> counted; ///< null for root
    MonotonicTime deadline;        ///< the time at which the server closes the connection
    MonotonicTime lastMoment;      ///< the server never moves `deadline` beyond `lastMoment`
    State state = State::Receiving;
    std::string text = {}; ///< while `state` is Receiving, the received part of the request; later, a page of the answer
    std::size_t sent = 0;  ///< how many bytes of the page the server has sent
    bool last = false;     ///< true if the page in `text` is the last page of the answer
    std::shared_ptr<ReceiptRequest> request = {};

    short events() const {
        return static_cast<short>(state == State::Receiving ? POLLIN : state == State::Sending ? POLLOUT : 0);
    }
    void giveTime(Microseconds time) { deadline = std::min(after(MonotonicClock::now(), time), lastMoment); }
    void answer(std::string page, bool isLast) {
        text = std::move(page);
        sent = 0;
        last = isLast;
        state = State::Sending;
        giveTime(kTimeWithoutReading);
    }
};

ArchiveServer::ArchiveServer(UniqueFd listener, Parts parts)
    : listener_(std::move(listener)), parts_(std::move(parts)), limit_(kMostConnectionsOfUser, kMostConnections) {}

ArchiveServer::~ArchiveServer() = default;

void ArchiveServer::serve(Microseconds idle) {
    auto quietSince = MonotonicClock::now();
    while (!connections_.empty() || timeBetween(quietSince, MonotonicClock::now()) < idle) {
        wait(connections_.empty() ? idle : kTimeForAnswer);
        if (!connections_.empty())
            quietSince = MonotonicClock::now();
    }
}

/// Waits for the next events, and handles them.
void ArchiveServer::wait(Microseconds atMost) {
    std::vector<pollfd> polled{
        {listener_.get(), POLLIN, 0}, {parts_.workers.readable(), POLLIN, 0}, {parts_.loop.descriptor(), POLLIN, 0}};
    const auto first = polled.size();
    std::vector<std::uint64_t> ids;
    for (const auto& [id, connection] : connections_) {
        polled.push_back({connection->socket.get(), connection->events(), 0});
        ids.push_back(id);
    }
    if (::poll(polled.data(), polled.size(), pollTimeout(untilNextDeadline(atMost))) < 0)
        return;
    for (std::size_t i = 0; i < ids.size(); ++i)
        if (handle(ids[i], *connections_.at(ids[i]), polled[first + i].revents) == Fate::Closes) {
            parts_.workers.forget(connections_.at(ids[i])->countsAs, ids[i]);
            connections_.erase(ids[i]);
        }
    if (polled[1].revents != 0)
        takePages();
    while (parts_.loop.turn(0us)) {
    }
    if (polled[0].revents != 0)
        acceptSome();
}

Microseconds ArchiveServer::untilNextDeadline(Microseconds atMost) const {
    const auto now = MonotonicClock::now();
    for (const auto& [id, connection] : connections_)
        atMost = std::min(atMost, timeBetween(now, connection->deadline));
    return atMost;
}

void ArchiveServer::acceptSome() {
    for (int i = 0; i < kAcceptedAtOnce; ++i) {
        UniqueFd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
        if (socket)
            acceptOne(std::move(socket));
        else if (errno == EAGAIN)
            return;
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS) {
            // If acceptSome() returned without a pause, the service would use a whole CPU while the process has no free file
            // descriptor.
            ::poll(nullptr, 0, pollTimeout(kPauseWithoutDescriptors));
            return;
        }
    }
}

void ArchiveServer::acceptOne(UniqueFd socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    // SO_PEERCRED gives the effective user id that the peer had at connect(2), even if the peer runs another program later.
    if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
        return;
    const auto countsAs = parts_.countsAs(peer.uid);
    ClientSocket client(std::move(socket), countsAs, parts_.closer);
    auto counted = peer.uid == 0 ? nullptr : limit_.enter(countsAs);
    if (peer.uid != 0 && !counted) {
        (void)!client.send(encodeEnd(Error{ErrorCode::Busy, "the archive's service has too many connections of this user, or of "
                                                            "all users: try again in a moment"}));
        return;
    }
    const auto now = MonotonicClock::now();
    connections_.emplace(++lastId_, std::make_unique<Connection>(Connection{.socket = std::move(client),
                                                                            .uid = peer.uid,
                                                                            .countsAs = countsAs,
                                                                            .counted = std::move(counted),
                                                                            .deadline = after(now, kTimeForRequest),
                                                                            .lastMoment = after(now, kTimeForAnswer)}));
}

ArchiveServer::Fate ArchiveServer::handle(std::uint64_t id, Connection& connection, short events) {
    if ((events & (POLLHUP | POLLERR)) != 0 || MonotonicClock::now() >= connection.deadline)
        return Fate::Closes;
    if ((events & POLLIN) != 0 && connection.state == Connection::State::Receiving)
        return receive(id, connection);
    if ((events & POLLOUT) != 0 && connection.state == Connection::State::Sending)
        return send(id, connection);
    return Fate::Stays;
}

ArchiveServer::Fate ArchiveServer::receive(std::uint64_t id, Connection& connection) {
    std::array<char, kReadAtOnce> part;
    const auto length = connection.socket.receive(part.data(), part.size());
    if (length <= 0)
        return length < 0 && triesAgain() ? Fate::Stays : Fate::Closes;
    connection.text.append(part.data(), static_cast<std::size_t>(length));
    const auto end = connection.text.find('\n');
    if (std::min(end, connection.text.size()) >= kMostArchiveRequest)
        connection.answer(encodeEnd(Error{ErrorCode::InvalidArgument, "the request is too long: use at most 16384 bytes"}), true);
    else if (end != std::string::npos)
        begin(id, connection, connection.text.substr(0, end));
    return Fate::Stays;
}

void ArchiveServer::begin(std::uint64_t id, Connection& connection, const std::string& line) {
    if (parts_.refusal)
        return connection.answer(encodeEnd(*parts_.refusal), true);
    const auto query = decodeArchiveQuery(line);
    if (!query)
        return connection.answer(encodeEnd(query.error()), true);
    const auto seesAll = parts_.auditors.seesAll(connection.uid);
    if (!seesAll)
        return connection.answer(encodeEnd(seesAll.error()), true);
    if (query->report && !*seesAll)
        return connection.answer(
            encodeEnd(Error{ErrorCode::Denied, "the site report has figures of all users, so only root and the "
                                               "members of pinfold-admin and pinfold-audit may see it"}),
            true);
    connection.request =
        std::make_shared<ReceiptRequest>(ReceiptRequest{.selection = {.filter = query->filter},
                                                        .allHostsOf = query->allHostsOf,
                                                        .left = query->allHostsOf ? kMostArchiveReceipts : query->filter.limit,
                                                        .report = query->report});
    if (!*seesAll)
        connection.request->selection.visibleTo = connection.uid;
    connection.state = Connection::State::Reading;
    connection.deadline = connection.lastMoment;
    parts_.workers.read({.id = id, .user = connection.countsAs, .request = connection.request});
}

void ArchiveServer::takePages() {
    for (auto& [id, page] : parts_.workers.takeDone()) {
        const auto found = connections_.find(id);
        if (found == connections_.end()) // the client closed the connection while a thread read the page
            continue;
        if (!page)
            found->second->answer(encodeEnd(page.error()), true);
        else
            found->second->answer(page->lines + (page->last ? encodeEnd(Result<void>()) : ""), page->last);
    }
}

ArchiveServer::Fate ArchiveServer::send(std::uint64_t id, Connection& connection) {
    const auto length = connection.socket.send(std::string_view(connection.text).substr(connection.sent));
    if (length < 0)
        return triesAgain() ? Fate::Stays : Fate::Closes;
    connection.sent += static_cast<std::size_t>(length);
    connection.giveTime(kTimeWithoutReading);
    if (connection.sent < connection.text.size())
        return Fate::Stays;
    if (connection.last)
        return Fate::Closes;
    connection.text = {};
    connection.state = Connection::State::Reading;
    connection.deadline = connection.lastMoment;
    parts_.workers.read({.id = id, .user = connection.countsAs, .request = connection.request});
    return Fate::Stays;
}

} // namespace pinfold
