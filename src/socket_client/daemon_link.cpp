// SPDX-License-Identifier: LGPL-2.1-or-later
#include "socket_client/daemon_link.hpp"

#include "base/deadline.hpp"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

// A restart of pinfoldd, of the bus or of systemd takes less time than kCreatePatience.
constexpr Microseconds kCreatePatience = 90s;
constexpr Microseconds kSuspendPatience = 2s;
constexpr Microseconds kRetryInterval = 100ms;
// If pinfoldd fails soon after each start, each attempt to connect starts pinfoldd again. DaemonLink waits between two attempts,
// so that pinfoldd does not start too often. A restarted pinfoldd waits only ten seconds for a supervisor's report about a job's
// end. DaemonLink must try to connect at least once in ten seconds.
constexpr Microseconds kLongestInterval = 64 * kRetryInterval;
constexpr suseconds_t kInLine = 100'000;
// If no program listens on the socket, pinfold-run gives up after the usual time of a restart.
constexpr Microseconds kPatienceIfNotThere = 5s;

Error unreachable(const char* why) {
    return {ErrorCode::Unreachable,
            std::string("pinfoldd is not reachable: ") + why + "; look at `systemctl status pinfoldd.socket pinfoldd`"};
}

/// Returns true if the listener runs as root, or as the user of this program. A listener that runs as root is systemd or
/// pinfoldd.
bool trusted(int socket) {
    ucred listener{};
    socklen_t size = sizeof listener;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &listener, &size) == 0 &&
           (listener.uid == 0 || listener.uid == ::geteuid());
}

Result<UniqueFd> connectTo(const std::string& path) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    // If the socket's queue is full, pinfold-run waits until there is room in the queue. If pinfold-run gave up its place in the
    // queue, many other wrappers could get a place before pinfold-run.
    const timeval inLine{.tv_sec = 0, .tv_usec = kInLine};
    (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &inLine, sizeof inLine);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    if (!socket || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return unreachable(std::strerror(errno));
    if (!trusted(socket.get())) {
        errno = EPERM;
        return unreachable("the process that listens on pinfoldd's socket does not run as root");
    }
    (void)::fcntl(socket.get(), F_SETFL, O_NONBLOCK);
    return socket;
}

bool send(int socket, const std::string& packet, const std::array<int, 3>& descriptors) {
    std::vector<int> fds;
    std::copy_if(descriptors.begin(), descriptors.end(), std::back_inserter(fds), [](int fd) { return fd >= 0; });
    iovec part{const_cast<char*>(packet.data()), packet.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) std::array<char, CMSG_SPACE(3 * sizeof(int))> control{};
    if (!fds.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
        std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
    }
    return ::sendmsg(socket, &message, MSG_NOSIGNAL) >= 0;
}

/// Removes the job's identity from the request, and returns the packet of this request. If the request has no identity, the
/// result is empty.
template <class Request> std::string packetWithoutIdentity(Request request) {
    if (request.identity == JobIdentity{})
        return {};
    request.identity = {};
    return encode(request);
}

/// Returns the error that tells an administrator why pinfoldd has not answered.
Error silence(bool away) {
    if (away)
        return {ErrorCode::Unreachable, "pinfoldd is not reachable; look at `systemctl status pinfoldd.socket pinfoldd`"};
    return {ErrorCode::TimedOut, "pinfoldd did not answer in time; look at `systemctl status pinfoldd`"};
}

} // namespace

void DaemonLink::create(WrapperCreate request, Descriptors descriptors) {
    request.supervised = descriptors.supervisor >= 0;
    request.output = descriptors.output >= 0;
    begin(request, descriptors, kCreatePatience);
    forOlder_ = packetWithoutIdentity(std::move(request));
}

void DaemonLink::end(WrapperEnd request) {
    request.toldOfRefusal = true;
    begin(request, {}, kForever);
    forOlder_ = packetWithoutIdentity(std::move(request));
}

void DaemonLink::suspend(const WrapperSuspend& request) { begin(request, {}, kSuspendPatience); }

void DaemonLink::list(const WrapperList& request, Microseconds patience) { begin(request, {}, patience); }

void DaemonLink::adopt(const WrapperAdopt& request, int process, Microseconds patience) {
    begin(request, {.leader = process}, patience);
}

void DaemonLink::begin(const WrapperRequest& request, Descriptors descriptors, Microseconds patience) {
    packet_ = encode(request);
    forOlder_.clear();
    descriptors_ = {descriptors.leader, descriptors.supervisor, descriptors.output};
    patience_ = patience;
    begun_ = MonotonicClock::now();
    interval_ = kRetryInterval;
    trouble_.clear();
    outcome_.reset();
    attempt();
}

void DaemonLink::attempt() {
    if (packet_.size() > kMaxWrapperPacket) {
        outcome_ =
            Error{ErrorCode::InvalidArgument, "the request has " + std::to_string(packet_.size()) + " bytes: use at most 65536"};
        return;
    }
    auto connected = connectTo(path_);
    if (!connected)
        return lost(connected.error(), errno != EAGAIN);
    socket_ = std::move(*connected);
    if (!send(socket_.get(), packet_, descriptors_))
        lost(unreachable(std::strerror(errno)), false);
}

void DaemonLink::receive() {
    // With MSG_TRUNC, recv(2) returns the length of the whole packet. If receive() had a buffer for the largest packet, the
    // supervisor's stack would need 64 KiB more. Memory that the stack has once used stays in use until the supervisor ends.
    const auto length = ::recv(socket_.get(), nullptr, 0, MSG_PEEK | MSG_TRUNC);
    if (length < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (length <= 0)
        return lost(
            unreachable("the daemon closed the connection, because it restarts or because this user's jobs call it too often"),
            false);
    std::string packet(std::min(static_cast<std::size_t>(length), kMaxWrapperPacket), '\0');
    (void)!::recv(socket_.get(), packet.data(), packet.size(), 0); // the packet has arrived, so recv(2) does not fail
    outcome_ = decodeWrapperReply(packet);
    socket_.reset();
    if (!forOlder_.empty() && !*outcome_ && saysUnknownForm(outcome_->error())) {
        packet_ = std::exchange(forOlder_, {});
        outcome_.reset();
        attempt();
    }
}

void DaemonLink::lost(Error error, bool notThere) {
    socket_.reset();
    trouble_ = error.message;
    const auto patience = notThere && patience_ != kForever ? std::min<Microseconds>(patience_, kPatienceIfNotThere) : patience_;
    if (MonotonicClock::now() - begun_ >= patience)
        outcome_ = std::move(error);
    else if (notThere && patience_ == kForever)
        backOff();
    else
        nextAttempt_ = MonotonicClock::now() + kRetryInterval;
}

void DaemonLink::askAgain() {
    if (outcome_ && !*outcome_)
        trouble_ = outcome_->error().message;
    outcome_.reset();
    backOff();
}

void DaemonLink::backOff() {
    // All wrappers of a node try again at the same moment, so that one start of pinfoldd is enough for all wrappers.
    nextAttempt_ = MonotonicTime((MonotonicClock::now().time_since_epoch() / interval_ + 1) * interval_);
    interval_ = std::min<Microseconds>(interval_ * 2, kLongestInterval);
}

std::optional<Result<WrapperReply>> DaemonLink::advance() {
    if (outcome_)
        return outcome_;
    if (!socket_ && MonotonicClock::now() >= nextAttempt_)
        attempt();
    if (socket_)
        receive();
    if (socket_ && patience_ != kForever && MonotonicClock::now() - begun_ >= patience_)
        lost(unreachable("it does not answer"), false);
    return outcome_;
}

Result<WrapperReply> DaemonLink::wait(const Patience& patience) {
    const Deadline read(patience.untilRead);
    const Deadline answered(patience.untilAnswered);
    for (;;) {
        if (auto outcome = advance())
            return *std::move(outcome);
        const auto isAway = away();
        if (answered.passed() || (isAway && read.passed()))
            return silence(isAway);
        auto wait = waitFor();
        const auto mine = (isAway ? read : answered).remainingMs();
        const auto its = timeoutMs();
        ::poll(&wait, 1, its < 0 ? mine : std::min(its, mine));
    }
}

bool DaemonLink::away() const {
    int unread = 0;
    return !socket_ || (::ioctl(socket_.get(), SIOCOUTQ, &unread) == 0 && unread > 0);
}

int DaemonLink::timeoutMs() const {
    if (outcome_)
        return 0;
    if (socket_ && patience_ == kForever)
        return -1;
    const auto until = socket_ ? begun_ + patience_ : nextAttempt_;
    return pollTimeout(timeBetween(MonotonicClock::now(), until));
}

} // namespace pinfold
