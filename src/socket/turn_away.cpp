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
// turnAway() answers at most kMostAtOnce connections, because the queue of the wrapper's socket has room for kMostAtOnce
// connections. If turnAway() leaves connections unanswered, systemd starts pinfoldd again for these connections.
constexpr std::size_t kMostAtOnce = 4096;

/// Returns true if the packet is a request to end a job and does not set toldOfRefusal. A wrapper of an older version ends after
/// any answer, even if processes of the wrapper's job are left. turnAway() sends no answer to a wrapper of an older version. When
/// pinfoldd ends without an answer, the connection closes, and the wrapper of the older version sends its request again.
bool takesRefusalForTheEnd(std::string_view packet) {
    const auto request = decodeWrapperRequest(packet);
    const auto* end = request ? std::get_if<WrapperEnd>(&*request) : nullptr;
    return end && !end->toldOfRefusal;
}

/// Waits until the wrapper's request has come. If pinfoldd closed the connection without reading the request, the kernel would
/// reset the connection. If the kernel reset the connection, the wrapper could not read the answer.
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
    // The sockets stay open until the process ends. Closing a socket can take long, because the kernel also closes the
    // descriptors in all unread messages. A process can end before the kernel has closed the descriptors of the process.
    std::vector<int> sockets;
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
