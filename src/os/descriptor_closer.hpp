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
/// linger on a socket. (Lingering is switched off first, but a process that has another descriptor of the socket can switch
/// it on again.) So threads close them in the background. Threads and descriptors are counted by user: a user who hands over
/// descriptors that do not close delays nobody else's.
class DescriptorCloser {
public:
    static constexpr std::size_t kThreadsPerUser = 4;
    static constexpr std::size_t kThreadsOfUsers = 24; ///< for all users but root; root's descriptors never wait for others
    /// A user with this many descriptors that wait or hang counts as overloaded.
    static constexpr std::size_t kMostPerUser = 1024;

    /// `mostOfUsers`: how many descriptors of all users but root may wait or hang. Beyond that no more of theirs should be taken.
    explicit DescriptorCloser(Background& background, std::size_t mostOfUsers = partOfDescriptors(kPartForClosing))
        : background_(background), mostOfUsers_(mostOfUsers) {}

    /// `owner`: the user who handed the descriptor over. A pidfd is closed here, because it closes at once.
    void close(uid_t owner, UniqueFd fd);
    /// True: no more of the user's descriptors should be taken, for one of two reasons. Too many of them hang in close(), not
    /// counting those that only wait behind other users'. Or all ordinary users together have so many here that root might find
    /// none left. For root it is always false.
    bool overloaded(uid_t owner) const;
    /// How many descriptors of all users wait or hang.
    std::size_t held() const;

private:
    struct User {
        std::deque<int> waiting; ///< descriptors
        std::size_t threads = 0;
        std::size_t held = 0; ///< descriptors that wait or hang
    };

    void begin();
    /// Begins to close one descriptor of the user. False: no thread is free for it now.
    bool beginOne(uid_t owner, User& user);
    void finished(uid_t owner);

    Background& background_;
    std::size_t mostOfUsers_;
    std::map<uid_t, User> users_; ///< those who have descriptors here
    std::size_t threadsOfUsers_ = 0;
    std::size_t heldOfUsers_ = 0; ///< of all but root
};

/// Owns a descriptor that another user's program made, and leaves its close() to a closer.
class ForeignFd {
public:
    ForeignFd() = default;
    /// Until closeBy() is called, the descriptor is closed like any other.
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

    /// `closer` must outlive this object. `owner`: the user who handed the descriptor over.
    void closeBy(DescriptorCloser& closer, uid_t owner) {
        closer_ = &closer;
        owner_ = owner;
    }
    void reset() {
        if (closer_)
            closer_->close(owner_, std::move(fd_));
        fd_.reset();
    }
    /// From now on the descriptor counts as this user's, no matter who has handed it over.
    void belongsTo(uid_t owner) { owner_ = owner; }
    uid_t owner() const { return owner_; }
    /// Another descriptor of the same file; empty when no descriptor is left.
    ForeignFd copy() const;
    /// Gives the descriptor away. From now on it is closed like any other.
    UniqueFd release() { return std::move(fd_); }
    int get() const { return fd_.get(); }
    explicit operator bool() const { return static_cast<bool>(fd_); }

private:
    DescriptorCloser* closer_ = nullptr;
    uid_t owner_ = 0;
    UniqueFd fd_;
};

} // namespace pinfold
