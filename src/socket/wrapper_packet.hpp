// SPDX-License-Identifier: LGPL-2.1-or-later
// Receives and sends packets on the wrapper's socket. Nothing here waits.
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
    std::string text; ///< empty: the other end is closed
    std::vector<ForeignFd> fds;
    bool cut = false;     ///< the packet was longer than what we read, or had more descriptors than a request may have
    bool lacking = false; ///< we had no descriptor number left for a descriptor that came with it
};

/// Accepts the next connection in the queue. Empty, with errno: there is none, or it cannot be accepted.
UniqueFd acceptWrapper(int listener);

/// Receives a packet. nullopt: nothing has come yet.
std::optional<WrapperPacket> receiveWrapperPacket(int socket);

/// Sends the reply. Errors are ignored: a peer that does not take its one packet is gone.
void sendWrapperReply(int socket, const Result<WrapperReply>& reply);

} // namespace pinfold
