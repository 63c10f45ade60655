// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket/wrapper_packet.hpp"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pinfold {
namespace {

constexpr std::size_t kMostDescriptors = 3;
// A message can have at most SCM_MAX_FD (253) descriptors. The receiving thread has to close the descriptors that do not fit
// into the buffer.
constexpr std::size_t kMostPassed = 253;

} // namespace

UniqueFd acceptWrapper(int listener) { return UniqueFd(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)); }

std::optional<WrapperPacket> receiveWrapperPacket(int socket) {
    std::array<char, kMaxWrapperPacket> text;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostPassed * sizeof(int))> control{};
    iovec part{text.data(), text.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto length = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return std::nullopt;
    WrapperPacket packet;
    for (auto* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        const auto count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
            packet.fds.emplace_back(UniqueFd(fd));
        }
    }
    packet.cut = (message.msg_flags & MSG_TRUNC) != 0 || packet.fds.size() > kMostDescriptors;
    // The buffer has room for all descriptors that a message can have. If the kernel has dropped a descriptor of the message,
    // pinfoldd had too few free descriptors.
    packet.lacking = (message.msg_flags & MSG_CTRUNC) != 0;
    if (length > 0)
        packet.text.assign(text.data(), static_cast<std::size_t>(length));
    return packet;
}

void sendWrapperReply(int socket, const Result<WrapperReply>& reply) {
    const auto packet = encodeWrapperReply(reply);
    (void)!::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace pinfold
