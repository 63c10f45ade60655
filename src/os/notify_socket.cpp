// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/notify_socket.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace pinfold {

NotifySocket::NotifySocket(EventLoop& loop) : loop_(loop) {
    if (const char* path = std::getenv("NOTIFY_SOCKET"))
        path_ = path;
}

Result<void> NotifySocket::state(std::string assignment) {
    state_ = std::move(assignment);
    return send();
}

void NotifySocket::status(const std::string& text) {
    status_ = "STATUS=" + text;
    (void)send();
}

void NotifySocket::startWatchdog() {
    std::uint64_t usec = 0;
    if (sd_watchdog_enabled(0, &usec) <= 0)
        return;
    // sd_watchdog_enabled(3) recommends signs of life at intervals of half the watchdog's time limit.
    watchdogInterval_ = fromUsec<Microseconds>(usec / 2);
    feedWatchdog();
}

void NotifySocket::feedWatchdog() {
    alive_ = "WATCHDOG=1";
    (void)send();
    watchdog_ = loop_.after(watchdogInterval_, [this] { feedWatchdog(); });
}

// send() sends each text as a separate message. One message with all texts could have more than 4096 bytes, because the status
// can be long. systemd ignores a message of more than 4096 bytes.
Result<void> NotifySocket::send() {
    if (path_.empty())
        return {};
    const bool isNew = !socket_;
    if (isNew)
        if (auto opened = open(); !opened)
            return opened;
    for (auto* text : {&state_, &alive_, &status_}) {
        if (text->empty() || ::send(socket_.get(), text->data(), text->size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) {
            text->clear();
            continue;
        }
        const int error = errno;
        if (error == EAGAIN) {
            if (!roomAgain_)
                roomAgain_ = loop_.onReadable(room_.get(), [this] { (void)send(); });
            return {};
        }
        roomAgain_.reset();
        socket_.reset();
        // systemd can create a new socket at the path while NotifySocket still uses an old socket. If the old socket fails,
        // send() connects to the path a second time.
        return isNew ? Error{ErrorCode::Internal, std::strerror(error)} : send();
    }
    roomAgain_.reset();
    return {};
}

Result<void> NotifySocket::open() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path_.size() >= sizeof address.sun_path)
        return Error{ErrorCode::Internal, std::strerror(ENAMETOOLONG)};
    std::ranges::copy(path_, address.sun_path);
    if (path_.starts_with('@'))
        address.sun_path[0] = '\0'; // the name of an abstract socket, see unix(7)
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path_.size());
    UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    room_.reset(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event writable{.events = EPOLLOUT, .data = {}};
    if (!socket || !room_ || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0 ||
        ::epoll_ctl(room_.get(), EPOLL_CTL_ADD, socket.get(), &writable) != 0)
        return Error{ErrorCode::Internal, std::strerror(errno)};
    socket_ = std::move(socket);
    return {};
}

} // namespace pinfold
