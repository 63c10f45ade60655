// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"
#include "os/descriptor_closer.hpp"

#include <sys/types.h>

#include <cstddef>
#include <string_view>

namespace pinfold {

/// Owns the socket of a client. The client can send descriptors through the socket (SCM_RIGHTS), and can choose a descriptor for
/// which close(2) takes very long. When the socket closes, the kernel closes the descriptors of all unread messages. If a program
/// reads a message but offers no room for descriptors, the kernel closes the descriptors of the message. ClientSocket never reads
/// a message with descriptors. If a message with descriptors has come, a background thread closes the socket.
class ClientSocket {
public:
    /// `closer` counts the socket as a descriptor of `user`. `closer` must outlive the ClientSocket.
    ClientSocket(UniqueFd socket, uid_t user, DescriptorCloser& closer);
    ClientSocket(ClientSocket&&) noexcept = default;
    ClientSocket& operator=(ClientSocket&&) = delete;
    ~ClientSocket();

    int get() const { return socket_.get(); }
    /// Receives bytes without waiting, like recv(2). If the next message in the queue has a descriptor, receive() receives
    /// nothing and fails with EBADMSG.
    ssize_t receive(char* buffer, std::size_t size);
    /// Sends bytes without waiting, like send(2).
    ssize_t send(std::string_view text);

private:
    UniqueFd socket_;
    uid_t user_;
    DescriptorCloser* closer_;
};

} // namespace pinfold
