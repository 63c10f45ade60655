// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/background.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace pinfold {

/// Messages for people, written by a thread in their order: journald that stands still, with its disk say, keeps whoever writes
/// to it, and must not keep the loop. What does not fit is dropped, counted, and told of when there is room again.
class MessageQueue {
public:
    static constexpr std::size_t kMostBytes = 4 << 20;
    /// The destructor's patience; microseconds.
    static constexpr std::uint64_t kFlush = 1'000'000;

    explicit MessageQueue(Background& background);
    /// Waits until all is written, at most kFlush.
    ~MessageQueue();
    MessageQueue(const MessageQueue&) = delete;
    MessageQueue& operator=(const MessageQueue&) = delete;

    /// By the loop's thread only. `write` is called by another one; it owns what it uses, some `bytes` of it.
    void add(std::size_t bytes, std::function<void()> write);

    /// How many were lost since the last time, when there is room for a message about it.
    std::function<void(std::uint64_t)> onLost;

private:
    struct Shared;
    void work();
    void tellLost();

    Background& background_;
    std::shared_ptr<Shared> shared_; ///< with the thread, which may outlive us
    std::uint64_t lost_ = 0;
};

} // namespace pinfold
