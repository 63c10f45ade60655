// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/message_queue.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <utility>

namespace pinfold {

struct MessageQueue::Shared {
    struct Message {
        std::size_t bytes;
        std::function<void()> write;
    };

    std::mutex mutex;
    std::condition_variable idle;
    std::deque<Message> waiting;
    std::size_t bytes = 0; ///< the size of all queued messages, including the message that is being written
    bool working = false;

    void writeAll() {
        std::unique_lock lock(mutex);
        while (!waiting.empty()) {
            const auto message = std::move(waiting.front());
            waiting.pop_front();
            lock.unlock();
            message.write();
            lock.lock();
            bytes -= message.bytes;
        }
        working = false;
        idle.notify_all();
    }
};

MessageQueue::MessageQueue(Background& background) : background_(background), shared_(std::make_shared<Shared>()) {}

MessageQueue::~MessageQueue() {
    onLost = nullptr;
    work();
    std::unique_lock lock(shared_->mutex);
    shared_->idle.wait_for(lock, std::chrono::microseconds(kFlush), [this] { return !shared_->working; });
}

void MessageQueue::add(std::size_t bytes, std::function<void()> write) {
    tellLost();
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->bytes + bytes > kMostBytes) {
            ++lost_;
            return;
        }
        shared_->bytes += bytes;
        shared_->waiting.push_back({bytes, std::move(write)});
    }
    work();
}

void MessageQueue::work() {
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->working || shared_->waiting.empty())
            return;
        shared_->working = true;
    }
    const bool begun = background_.run(
        Lane::Journal, [shared = shared_] { shared->writeAll(); }, nullptr);
    if (begun)
        return;
    const std::lock_guard lock(shared_->mutex); // the kernel could not start a thread, so add() tries again at the next message
    shared_->working = false;
}

void MessageQueue::tellLost() {
    if (lost_ == 0 || !onLost)
        return;
    {
        const std::lock_guard lock(shared_->mutex);
        if (shared_->bytes > kMostBytes / 2)
            return;
    }
    onLost(std::exchange(lost_, 0));
}

} // namespace pinfold
