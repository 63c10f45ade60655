// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_service/client_socket.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <utility>

namespace pinfold {
namespace {

/// Receives bytes from the socket. If a descriptor came with the bytes, receiveBytes() fails with EBADMSG, and leaves the bytes
/// in the socket's queue.
ssize_t receiveBytes(int socket, char* buffer, std::size_t size) {
    iovec part{buffer, size};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    // Because of MSG_PEEK, the kernel leaves the message and its descriptors in the queue of the socket. The kernel sets
    // MSG_CTRUNC, because `message` has no room for the descriptors.
    const auto length = ::recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT);
    if (length <= 0)
        return length;
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
        errno = EBADMSG;
        return -1;
    }
    return ::recv(socket, buffer, static_cast<std::size_t>(length), MSG_DONTWAIT);
}

/// Returns true if the socket's queue contains no descriptors, and no more messages can come. closesAtOnce() empties the queue.
/// If close(2) finds unread bytes in the queue, the kernel resets the connection, and the client can lose the answer.
bool closesAtOnce(int socket) {
    constexpr int kMostReads = 16; // a client of pinfold sends one line of at most 16 KiB
    std::array<char, 16384> unread;
    (void)::shutdown(socket, SHUT_RD);
    for (int i = 0; i < kMostReads; ++i)
        if (const auto length = receiveBytes(socket, unread.data(), unread.size()); length <= 0)
            return length == 0;
    return false;
}

} // namespace

ClientSocket::ClientSocket(UniqueFd socket, uid_t user, DescriptorCloser& closer)
    : socket_(std::move(socket)), user_(user), closer_(&closer) {
    constexpr int kOn = 1;
    // Without SO_OOBINLINE, recvmsg(2) with MSG_PEEK does not show a message with MSG_OOB. The next recv(2) would skip the
    // message with MSG_OOB, and would free the descriptors in this message.
    (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_OOBINLINE, &kOn, sizeof kOn);
}

ClientSocket::~ClientSocket() {
    if (socket_ && user_ != 0 && !closesAtOnce(socket_.get()))
        closer_->close(user_, std::move(socket_));
}

ssize_t ClientSocket::receive(char* buffer, std::size_t size) { return receiveBytes(socket_.get(), buffer, size); }

ssize_t ClientSocket::send(std::string_view text) {
    return ::send(socket_.get(), text.data(), text.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

} // namespace pinfold
