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
    std::uint32_t number; ///< what its stand-in holds
    UniqueFd original;
};

std::atomic<int> watchedSocket{-1}; // other threads receive on sockets of their own
std::vector<Received> received;
std::uint32_t lastNumber = 0;

/// -1: there are no descriptors left.
int makeStandIn() {
    lastNumber += lastNumber == UINT32_MAX ? 2 : 1; // an eventfd that holds 0 can't be read
    return ::eventfd(lastNumber, EFD_CLOEXEC | EFD_NONBLOCK);
}

/// False: there are not enough descriptors for all stand-ins.
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

/// libsystemd drops a message that has fewer descriptors than it says. One that the kernel has cut short would have it leave the
/// bus, and of a message that it drops it closes nothing. (noexcept: no exception may fly through its C frames.)
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
    for (auto& [number, original] : received)
        (void)original.release(); // the end of the process closes it, and does not linger
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

/// In the place of the C library's, also for libsystemd: nothing else comes between the kernel and what libsystemd does with a
/// message, and there is no way to ask it for a descriptor that the message does not name.
extern "C" __attribute__((visibility("default"))) ssize_t recvmsg(int socket, msghdr* message, int flags) {
    const auto size = ::syscall(SYS_recvmsg, socket, message, flags);
    if (size >= 0 && socket == pinfold::watchedSocket)
        pinfold::exchangeAll(*message);
    return size;
}
