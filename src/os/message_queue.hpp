// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "os/background.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace pinfold {

/// Queues messages for people. A thread writes the messages in the order in which they came. When journald hangs (for instance
/// because its disk hangs), every program that writes to journald blocks. The event loop must not block. If the queue is full,
/// MessageQueue drops and counts new messages. When the queue has room again, MessageQueue reports the number of dropped
/// messages.
class MessageQueue {
public:
    static constexpr std::size_t kMostBytes = 4 << 20;
    /// The destructor of MessageQueue waits for the queue's thread, but no longer than kFlush.
    static constexpr Microseconds kFlush = 1s;

    explicit MessageQueue(Background& background);
    /// Waits until the thread has written all messages, but no longer than kFlush.
    ~MessageQueue();
    MessageQueue(const MessageQueue&) = delete;
    MessageQueue& operator=(const MessageQueue&) = delete;

    /// Adds a message. Only the loop's thread calls add(). Another thread calls the function `write`, so the function must own
    /// the data that it uses. `bytes` is the approximate size in memory of the data that `write` owns.
    void add(std::size_t bytes, std::function<void()> write);

    /// MessageQueue calls onLost when the queue has room for a message about lost messages. The argument of onLost is the number
    /// of messages that were lost since the previous call of onLost.
    std::function<void(std::uint64_t)> onLost;

private:
    struct Shared;
    void work();
    void tellLost();

    Background& background_;
    std::shared_ptr<Shared> shared_; ///< a shared object, because the thread can outlive the MessageQueue
    std::uint64_t lost_ = 0;
};

} // namespace pinfold
