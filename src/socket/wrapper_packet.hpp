// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets on the wrapper's socket, as they come and go. Nothing here waits.
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
    bool cut = false;     ///< there was more of it, or more than a request has
    bool lacking = false; ///< we have no descriptor left for one that came with it
};

/// The next connection in the queue; empty, with errno, when there is none to be had.
UniqueFd acceptWrapper(int listener);

/// Nullopt: nothing has come yet.
std::optional<WrapperPacket> receiveWrapperPacket(int socket);

/// Whoever doesn't take the one packet that is for them is gone, and that is not news.
void sendWrapperReply(int socket, const Result<WrapperReply>& reply);

} // namespace pinfold
