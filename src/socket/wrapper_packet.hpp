// SPDX-License-Identifier: LGPL-2.1-or-later
// Receives and sends packets on the wrapper's socket. No function in this file waits.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "model/wrapper_protocol.hpp"
#include "os/descriptor_closer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct WrapperPacket {
    std::string text; ///< the text of the packet; empty if the other end is closed
    std::vector<ForeignFd> fds;
    bool cut = false;     ///< the packet was longer than the buffer, or had more descriptors than a request can have
    bool lacking = false; ///< pinfoldd lost a descriptor of the packet, because pinfoldd had too few free descriptors
};

/// Accepts the next connection in the queue. If there is no connection, or the connection cannot be accepted, the result is
/// empty, and errno says why.
UniqueFd acceptWrapper(int listener);

/// Receives a packet. Returns nullopt if no packet has come yet.
std::optional<WrapperPacket> receiveWrapperPacket(int socket);

/// Sends the reply. The reply is the only packet that pinfoldd sends over the connection. sendWrapperReply() ignores errors,
/// because the program that sent the request has possibly ended already.
void sendWrapperReply(int socket, const Result<WrapperReply>& reply);

} // namespace pinfold
