// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace pinfold {

struct ReceiptRequest;

/// Distributes the requests among the threads. Users take turns. If a user sends many requests, these requests wait for each
/// other, but do not delay the requests of other users. The threads work on at most kMostAtOnce requests of one user at the same
/// time. Even if all requests of one user are slow, some threads stay free for the requests of other users. Several threads can
/// use one RequestTurns object at the same time.
class RequestTurns {
public:
    static constexpr std::size_t kMostAtOnce = 2;

    struct Item {
        std::uint64_t id; ///< the id of the connection from which the request came
        uid_t user;       ///< the user whose turn the request takes: for a subordinate user id, the owner of the id
        std::shared_ptr<ReceiptRequest> request;
    };

    void add(Item item);
    /// Removes a request that waits for a thread. Does nothing if a thread already works on the request.
    void remove(uid_t uid, std::uint64_t id);
    /// Waits for the next request. After a thread has handled the returned request, the thread must call finished(). Returns
    /// nullopt after close().
    std::optional<Item> take();
    void finished(uid_t uid);
    /// Makes all calls of take() return nullopt.
    void close();

private:
    struct User {
        std::deque<Item> waiting = {};
        std::size_t atWork = 0;
    };
    std::optional<Item> next();

    std::mutex mutex_;
    std::condition_variable changed_;
    std::map<uid_t, User> users_; ///< the users who have at least one waiting request, or one request in a thread
    uid_t last_ = 0;              ///< the user whose request a thread took last
    bool closed_ = false;
};

} // namespace pinfold
