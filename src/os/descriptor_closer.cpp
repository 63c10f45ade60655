// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/descriptor_closer.hpp"

#include "os/process.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

namespace pinfold {
namespace {

// Closes the descriptor without lingering. If a socket has SO_LINGER (socket(7)), close(2) can occupy a thread and a descriptor
// as long as the socket's creator wants. Without SO_LINGER, close(2) returns at once, and the kernel sends the rest of the data
// later.
void closeWithoutLingering(int fd) {
    constexpr linger kNone{};
    // setsockopt(2) fails for most descriptors, because they are not sockets.
    (void)::setsockopt(fd, SOL_SOCKET, SO_LINGER, &kNone, sizeof kNone);
    ::close(fd);
}

} // namespace

void DescriptorCloser::close(uid_t owner, UniqueFd fd) {
    if (!fd || isPidfd(fd.get()))
        return;
    auto& user = users_[owner];
    ++user.held;
    heldOfUsers_ += owner == 0 ? 0 : 1;
    user.waiting.push_back(fd.release());
    begin();
}

bool DescriptorCloser::overloaded(uid_t owner) const {
    if (owner == 0)
        return false;
    const auto user = users_.find(owner);
    return heldOfUsers_ >= mostOfUsers_ ||
           (user != users_.end() && user->second.held >= kMostPerUser && user->second.threads >= kThreadsPerUser);
}

std::size_t DescriptorCloser::held() const {
    std::size_t sum = 0;
    for (const auto& [owner, user] : users_)
        sum += user.held;
    return sum;
}

void DescriptorCloser::begin() {
    for (auto& [owner, user] : users_)
        while (!user.waiting.empty() && beginOne(owner, user)) {
        }
}

bool DescriptorCloser::beginOne(uid_t owner, User& user) {
    const bool root = owner == 0;
    if (!root && (user.threads >= kThreadsPerUser || threadsOfUsers_ >= kThreadsOfUsers))
        return false;
    if (!background_.run(
            Lane::Descriptors, [fd = user.waiting.front()] { closeWithoutLingering(fd); }, [this, owner] { finished(owner); }))
        return false;
    user.waiting.pop_front();
    ++user.threads;
    threadsOfUsers_ += root ? 0 : 1;
    return true;
}

void DescriptorCloser::finished(uid_t owner) {
    const auto user = users_.find(owner);
    --user->second.threads;
    threadsOfUsers_ -= owner == 0 ? 0 : 1;
    heldOfUsers_ -= owner == 0 ? 0 : 1;
    if (--user->second.held == 0)
        users_.erase(user);
    begin();
}

ForeignFd ForeignFd::copy() const {
    ForeignFd other(UniqueFd(fd_ ? ::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 3) : -1));
    other.closer_ = closer_;
    other.owner_ = owner_;
    return other;
}

} // namespace pinfold
