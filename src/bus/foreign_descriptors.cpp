// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/foreign_descriptors.hpp"

#include "os/process.hpp"

#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <span>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

struct Received {
    std::uint32_t number; ///< the counter value of the eventfd that is the stand-in
    UniqueFd original;
};

// watchedSocket is atomic, because other threads read watchedSocket when they call recvmsg() for their own sockets.
std::atomic<int> watchedSocket{-1};
std::vector<Received> received;
std::uint32_t lastNumber = 0;

/// Returns the file descriptor of a new stand-in, or -1 if the process has no free file descriptor.
int makeStandIn() {
    // An eventfd with the counter value 0 cannot be read, so no stand-in gets this value.
    lastNumber += lastNumber == UINT32_MAX ? 2 : 1;
    return ::eventfd(lastNumber, EFD_CLOEXEC | EFD_NONBLOCK);
}

/// Replaces the descriptors by stand-ins. Returns false if pinfoldd has too few free file descriptors to make all stand-ins.
bool exchange(std::span<int> descriptors) {
    bool complete = true;
    for (int& descriptor : descriptors) {
        if (isPidfd(descriptor))
            continue;
        const int standIn = makeStandIn();
        received.push_back({lastNumber, UniqueFd(descriptor)});
        descriptor = standIn;
        complete = complete && standIn >= 0;
    }
    return complete;
}

/// Replaces the descriptors of a message by stand-ins. A message can announce more descriptors than the kernel has delivered.
/// libsystemd drops the incomplete message, but does not close the descriptors that have come. If the kernel has not passed on
/// all descriptors of a message (MSG_CTRUNC), libsystemd disconnects from the bus. exchangeAll() closes the descriptors of an
/// incomplete message, and clears the flag MSG_CTRUNC. exchangeAll() is noexcept, because a C++ exception must not pass through
/// the C code of libsystemd.
void exchangeAll(msghdr& message) noexcept {
    bool complete = (message.msg_flags & MSG_CTRUNC) == 0;
    std::vector<int> given;
    for (auto* header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS)
            continue;
        const std::span descriptors(reinterpret_cast<int*>(CMSG_DATA(header)), (header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        complete = exchange(descriptors) && complete;
        given.insert(given.end(), descriptors.begin(), descriptors.end());
    }
    if (complete)
        return;
    for (const int descriptor : given)
        UniqueFd(descriptor).reset();
    message.msg_controllen = 0;
    message.msg_flags &= ~MSG_CTRUNC;
}

} // namespace

ForeignDescriptors::ForeignDescriptors(int busSocket, DescriptorCloser& closer) : closer_(closer) { watchedSocket = busSocket; }

ForeignDescriptors::~ForeignDescriptors() {
    watchedSocket = -1;
    // close(2) can wait for a socket (SO_LINGER). When the process ends, the kernel closes the descriptors without waiting.
    for (auto& [number, original] : received)
        (void)original.release();
}

std::shared_ptr<void> ForeignDescriptors::takeOver(uid_t owner) {
    if (received.empty())
        return nullptr;
    std::vector<std::uint32_t> numbers;
    for (auto& [number, original] : std::exchange(received, {})) {
        originals_->emplace(number, ForeignFd(closer_, owner, std::move(original)));
        numbers.push_back(number);
    }
    return {this, [originals = originals_, numbers = std::move(numbers)](void*) {
                for (const auto number : numbers)
                    originals->erase(number);
            }};
}

ForeignFd ForeignDescriptors::behind(const ForeignFd& standIn) {
    std::uint64_t number = 0;
    if (isPidfd(standIn.get()) || ::read(standIn.get(), &number, sizeof(number)) != sizeof(number))
        return {};
    const auto found = originals_->find(static_cast<std::uint32_t>(number));
    return found == originals_->end() ? ForeignFd() : std::move(found->second);
}

} // namespace pinfold

/// Replaces the C library's recvmsg() in the whole program, including libsystemd. recvmsg() is the only place where pinfoldd can
/// take descriptors out of a message before libsystemd gets the message. libsystemd gives pinfoldd only those descriptors that
/// the message names.
extern "C" __attribute__((visibility("default"))) ssize_t recvmsg(int socket, msghdr* message, int flags) {
    const auto size = ::syscall(SYS_recvmsg, socket, message, flags);
    if (size >= 0 && socket == pinfold::watchedSocket)
        pinfold::exchangeAll(*message);
    return size;
}
