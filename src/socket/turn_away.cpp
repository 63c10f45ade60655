// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket/turn_away.hpp"

#include "socket/wrapper_packet.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace pinfold {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPatience{100};
// The queue's length. A connection that comes after those makes systemd start us again.
constexpr std::size_t kMostAtOnce = 4096;

/// Of an earlier wrapper, which leaves at any answer, whatever processes of its job are left. One that is closed asks again.
bool takesRefusalForTheEnd(std::string_view packet) {
    const auto request = decodeWrapperRequest(packet);
    const auto* end = request ? std::get_if<WrapperEnd>(&*request) : nullptr;
    return end && !end->toldOfRefusal;
}

/// An answer to a request that is still unread would be lost: the connection is reset.
void waitForRequest(int socket, steady_clock::time_point deadline) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
    pollfd asked{socket, POLLIN, 0};
    ::poll(&asked, 1, static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0)));
}

void answer(int socket, const Error& why) {
    auto packet = receiveWrapperPacket(socket);
    if (!packet || !takesRefusalForTheEnd(packet->text))
        sendWrapperReply(socket, why);
    if (!packet)
        return;
    for (auto& fd : packet->fds)
        (void)fd.release().release();
}

} // namespace

void turnAway(int listener, const Error& why) {
    std::vector<int> sockets; // not closed: what nobody has read may linger, which only a process that ends does not wait for
    while (sockets.size() < kMostAtOnce) {
        auto socket = acceptWrapper(listener);
        if (!socket)
            break;
        sockets.push_back(socket.release());
    }
    const auto deadline = steady_clock::now() + kPatience;
    for (const int socket : sockets) {
        waitForRequest(socket, deadline);
        answer(socket, why);
    }
}

} // namespace pinfold
