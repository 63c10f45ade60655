// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"
#include "os/background.hpp"
#include "os/descriptor_reserve.hpp"

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <utility>

namespace pinfold {

/// Closes descriptors that other users' programs made. close(2) can flush a file to a server that hangs, or can wait for the peer
/// of a socket. A socket with SO_LINGER makes close(2) wait. Before the call of close(2), DescriptorCloser removes SO_LINGER.
/// Another process that has the socket open can set SO_LINGER again. Because close(2) can wait, DescriptorCloser calls close(2)
/// in background threads. DescriptorCloser limits the threads and descriptors of each user. Even if calls of close(2) hang for
/// one user, some threads remain for the descriptors of other users.
class DescriptorCloser {
public:
    static constexpr std::size_t kThreadsPerUser = 4;
    /// At most kThreadsOfUsers threads close descriptors of users other than root at the same time. Even if kThreadsOfUsers
    /// threads hang, other threads still close the descriptors of root.
    static constexpr std::size_t kThreadsOfUsers = 24;
    /// A descriptor is unclosed until close() has returned. A user is overloaded if kMostPerUser descriptors of the user are
    /// unclosed and kThreadsPerUser threads close the user's descriptors.
    static constexpr std::size_t kMostPerUser = 1024;

    /// When the number of ordinary users' unclosed descriptors reaches `mostOfUsers`, pinfoldd should accept descriptors only
    /// from root.
    explicit DescriptorCloser(Background& background, std::size_t mostOfUsers = partOfDescriptors(kPartForClosing));

    /// Closes the descriptor in the background. `owner` is the user who passed the descriptor to pinfoldd. DescriptorCloser
    /// closes a pidfd without a thread, because close() of a pidfd returns at once.
    void close(uid_t owner, UniqueFd fd);
    /// Returns true if pinfoldd should accept no more descriptors from the user. If fewer than kThreadsPerUser threads close
    /// descriptors of the user, the number of the user's unclosed descriptors does not matter. When the number of ordinary users'
    /// unclosed descriptors reaches `mostOfUsers`, overloaded() returns true for every ordinary user. The limit `mostOfUsers`
    /// keeps descriptors free for root. Returns false for root.
    bool overloaded(uid_t owner) const;
    /// Returns the number of descriptors for which close() has not returned yet.
    std::size_t held() const;

private:
    struct Descriptor {
        uid_t owner;
        int fd;
    };
    struct Users;

    Background& background_;
    std::shared_ptr<Users> users_; ///< a shared object, because the threads can outlive the DescriptorCloser
};

/// Owns a descriptor that another user's program made. A DescriptorCloser closes the descriptor.
class ForeignFd {
public:
    ForeignFd() = default;
    /// If closeBy() was never called, the ForeignFd closes the descriptor itself.
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

    /// After the call of closeBy(), the DescriptorCloser `closer` closes the descriptor. The DescriptorCloser must outlive the
    /// ForeignFd. `owner` is the user who passed the descriptor to pinfoldd.
    void closeBy(DescriptorCloser& closer, uid_t owner) {
        closer_ = &closer;
        owner_ = owner;
    }
    void reset() {
        if (closer_)
            closer_->close(owner_, std::move(fd_));
        fd_.reset();
    }
    /// After the call of belongsTo(), DescriptorCloser counts the descriptor for `owner`, even if another user passed the
    /// descriptor to pinfoldd.
    void belongsTo(uid_t owner) { owner_ = owner; }
    uid_t owner() const { return owner_; }
    /// Returns a ForeignFd with a duplicate of the descriptor. Returns an empty ForeignFd if the process has no free descriptor.
    ForeignFd copy() const;
    /// Gives the descriptor to the caller. The returned UniqueFd calls close(2) in the thread that destroys the UniqueFd.
    UniqueFd release() { return std::move(fd_); }
    int get() const { return fd_.get(); }
    explicit operator bool() const { return static_cast<bool>(fd_); }

private:
    DescriptorCloser* closer_ = nullptr;
    uid_t owner_ = 0;
    UniqueFd fd_;
};

} // namespace pinfold
