// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/descriptor_closer.hpp"

#include "os/process.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace pinfold {
namespace {

// Closes the descriptor at once, even if a socket has unsent data. With SO_LINGER (socket(7)), the user who made a socket decides
// how long close(2) waits. Without SO_LINGER, close(2) returns at once, and the kernel sends the rest of the data later.
void closeWithoutLingering(int fd) {
    constexpr linger kNone{};
    // setsockopt(2) fails for most descriptors, because they are not sockets.
    (void)::setsockopt(fd, SOL_SOCKET, SO_LINGER, &kNone, sizeof kNone);
    ::close(fd);
}

} // namespace

// Each thread fetches its next descriptor without help from the event loop's thread. The event loop's thread need not wake up for
// each closed descriptor.
struct DescriptorCloser::Users {
    struct User {
        std::deque<int> waiting; ///< the user's descriptors that no thread closes yet
        std::size_t threads = 0;
        std::size_t held = 0; ///< the number of the user's descriptors for which close() has not returned yet
    };

    explicit Users(std::size_t mostOfUsersArg) : mostOfUsers(mostOfUsersArg) {}

    void add(Descriptor descriptor);
    /// Returns the next descriptor that the limits allow a thread to close. next() adds 1 to the number of threads that close
    /// descriptors of the descriptor's owner.
    std::optional<Descriptor> next();
    /// Undoes next() if the kernel could not start a thread.
    void giveBack(Descriptor descriptor);
    /// Closes the descriptor `first`, and then closes each descriptor that next() returns. A thread calls close().
    void close(Descriptor first);

    std::mutex mutex;
    std::map<uid_t, User> users; ///< the users who have descriptors for which close() has not returned yet
    std::size_t threadsOfUsers = 0;
    std::size_t heldOfUsers = 0; ///< the sum of User::held over all users other than root
    const std::size_t mostOfUsers;

private:
    void closed(uid_t owner);
};

void DescriptorCloser::Users::add(Descriptor descriptor) {
    const std::lock_guard lock(mutex);
    auto& user = users[descriptor.owner];
    ++user.held;
    heldOfUsers += descriptor.owner == 0 ? 0 : 1;
    user.waiting.push_back(descriptor.fd);
}

std::optional<DescriptorCloser::Descriptor> DescriptorCloser::Users::next() {
    const std::lock_guard lock(mutex);
    for (auto& [owner, user] : users) {
        const bool root = owner == 0;
        if (user.waiting.empty() || (!root && (user.threads >= kThreadsPerUser || threadsOfUsers >= kThreadsOfUsers)))
            continue;
        ++user.threads;
        threadsOfUsers += root ? 0 : 1;
        const Descriptor taken{owner, user.waiting.front()};
        user.waiting.pop_front();
        return taken;
    }
    return std::nullopt;
}

void DescriptorCloser::Users::giveBack(Descriptor descriptor) {
    const std::lock_guard lock(mutex);
    auto& user = users[descriptor.owner];
    --user.threads;
    threadsOfUsers -= descriptor.owner == 0 ? 0 : 1;
    user.waiting.push_front(descriptor.fd);
}

void DescriptorCloser::Users::close(Descriptor first) {
    for (std::optional descriptor = first; descriptor; descriptor = next()) {
        closeWithoutLingering(descriptor->fd);
        closed(descriptor->owner);
    }
}

void DescriptorCloser::Users::closed(uid_t owner) {
    const std::lock_guard lock(mutex);
    const auto user = users.find(owner);
    --user->second.threads;
    threadsOfUsers -= owner == 0 ? 0 : 1;
    heldOfUsers -= owner == 0 ? 0 : 1;
    if (--user->second.held == 0)
        users.erase(user);
}

DescriptorCloser::DescriptorCloser(Background& background, std::size_t mostOfUsers)
    : background_(background), users_(std::make_shared<Users>(mostOfUsers)) {}

void DescriptorCloser::close(uid_t owner, UniqueFd fd) {
    if (!fd || isPidfd(fd.get()))
        return;
    users_->add({owner, fd.release()});
    while (const auto descriptor = users_->next())
        if (!background_.run(
                Lane::Descriptors, [users = users_, first = *descriptor] { users->close(first); }, nullptr))
            return users_->giveBack(*descriptor);
}

bool DescriptorCloser::overloaded(uid_t owner) const {
    if (owner == 0)
        return false;
    const std::lock_guard lock(users_->mutex);
    const auto user = users_->users.find(owner);
    return users_->heldOfUsers >= users_->mostOfUsers ||
           (user != users_->users.end() && user->second.held >= kMostPerUser && user->second.threads >= kThreadsPerUser);
}

std::size_t DescriptorCloser::held() const {
    const std::lock_guard lock(users_->mutex);
    std::size_t sum = 0;
    for (const auto& [owner, user] : users_->users)
        sum += user.held;
    return sum;
}

ForeignFd ForeignFd::copy() const {
    ForeignFd other(UniqueFd(fd_ ? ::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 3) : -1));
    other.closer_ = closer_;
    other.owner_ = owner_;
    return other;
}

} // namespace pinfold
