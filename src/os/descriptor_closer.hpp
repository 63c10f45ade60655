// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"
#include "os/background.hpp"
#include "os/descriptor_reserve.hpp"

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

namespace pinfold {

/// Closes descriptors that other users' programs made. close(2) of such a descriptor may flush a file to a server that hangs, or
/// linger on a socket. (DescriptorCloser switches lingering off first, but a process with another descriptor of the socket can
/// switch it on again.) So threads close the descriptors in the background. DescriptorCloser counts threads and descriptors by
/// user, so a user whose descriptors do not close delays no other user's descriptors.
class DescriptorCloser {
public:
    static constexpr std::size_t kThreadsPerUser = 4;
    static constexpr std::size_t kThreadsOfUsers = 24; ///< threads for all users except root; root's descriptors never wait for
                                                       ///< others
    /// A user counts as overloaded if this many descriptors of the user wait or hang.
    static constexpr std::size_t kMostPerUser = 1024;

    /// `mostOfUsers` says how many descriptors of all users but root may wait or hang. Beyond this number pinfoldd should take no
    /// more descriptors of these users.
    explicit DescriptorCloser(Background& background, std::size_t mostOfUsers = partOfDescriptors(kPartForClosing))
        : background_(background), mostOfUsers_(mostOfUsers) {}

    /// Closes the descriptor in the background. `owner` is the user who handed the descriptor over. close() closes a pidfd
    /// itself, because a pidfd closes at once.
    void close(uid_t owner, UniqueFd fd);
    /// Returns true if pinfoldd should take no more descriptors of the user, for one of two reasons. First, too many descriptors
    /// of the user hang in close(); a descriptor that only waits behind those of other users does not count. Second, all ordinary
    /// users together have so many descriptors waiting that root might find no free descriptor. Returns false for root.
    bool overloaded(uid_t owner) const;
    /// Returns how many descriptors of all users wait or hang.
    std::size_t held() const;

private:
    struct User {
        std::deque<int> waiting; ///< the descriptors that wait
        std::size_t threads = 0;
        std::size_t held = 0; ///< descriptors that wait or hang
    };

    void begin();
    /// Begins to close one descriptor of the user. Returns false if no thread is free for it now.
    bool beginOne(uid_t owner, User& user);
    void finished(uid_t owner);

    Background& background_;
    std::size_t mostOfUsers_;
    std::map<uid_t, User> users_; ///< the users with descriptors that wait or hang
    std::size_t threadsOfUsers_ = 0;
    std::size_t heldOfUsers_ = 0; ///< of all users but root
};

/// Owns a descriptor that another user's program made. A DescriptorCloser closes the descriptor.
class ForeignFd {
public:
    ForeignFd() = default;
    /// Until somebody calls closeBy(), the ForeignFd closes the descriptor itself.
    explicit ForeignFd(UniqueFd fd) : fd_(std::move(fd)) {}
    ForeignFd(DescriptorCloser& closer, uid_t owner, UniqueFd fd) : closer_(&closer), owner_(owner), fd_(std::move(fd)) {}
    ForeignFd(ForeignFd&&) noexcept = default;
    ForeignFd& operator=(ForeignFd&& other) noexcept {
        if (this == &other)
            return *this;
        reset();
        closer_ = other.closer_;
        owner_ = other.owner_;
        fd_ = std::move(other.fd_);
        return *this;
    }
    ~ForeignFd() { reset(); }

    /// From now on `closer` closes the descriptor. `closer` must outlive this object. `owner` is the user who handed the
    /// descriptor over.
    void closeBy(DescriptorCloser& closer, uid_t owner) {
        closer_ = &closer;
        owner_ = owner;
    }
    void reset() {
        if (closer_)
            closer_->close(owner_, std::move(fd_));
        fd_.reset();
    }
    /// From now on the descriptor counts as a descriptor of `owner`, no matter who has handed it over.
    void belongsTo(uid_t owner) { owner_ = owner; }
    uid_t owner() const { return owner_; }
    /// Returns another descriptor of the same file, or an empty ForeignFd if no descriptor is left.
    ForeignFd copy() const;
    /// Gives the descriptor away. Its new owner closes it like any other descriptor.
    UniqueFd release() { return std::move(fd_); }
    int get() const { return fd_.get(); }
    explicit operator bool() const { return static_cast<bool>(fd_); }

private:
    DescriptorCloser* closer_ = nullptr;
    uid_t owner_ = 0;
    UniqueFd fd_;
};

} // namespace pinfold
