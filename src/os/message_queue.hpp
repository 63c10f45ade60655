// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/background.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace pinfold {

/// A queue of messages for people, which a thread writes in their order. When journald stands still (with its disk, for
/// instance), it blocks its writers, and it must not block the loop. Messages that do not fit are dropped and counted,
/// and the count is reported when there is room again.
class MessageQueue {
public:
    static constexpr std::size_t kMostBytes = 4 << 20;
    /// Microseconds for which the destructor waits.
    static constexpr std::uint64_t kFlush = 1'000'000;

    explicit MessageQueue(Background& background);
    /// Waits until all is written, at most kFlush.
    ~MessageQueue();
    MessageQueue(const MessageQueue&) = delete;
    MessageQueue& operator=(const MessageQueue&) = delete;

    /// Only the loop's thread calls this. Another thread calls `write`, which owns what it uses, about `bytes` of memory.
    void add(std::size_t bytes, std::function<void()> write);

    /// Called with the number of messages that were lost since the last time, when there is room for a message about it.
    std::function<void(std::uint64_t)> onLost;

private:
    struct Shared;
    void work();
    void tellLost();

    Background& background_;
    std::shared_ptr<Shared> shared_; ///< shared with the thread, which may outlive this object
    std::uint64_t lost_ = 0;
};

} // namespace pinfold
