// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/background.hpp"
#include "os/event_loop.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace pinfold {

/// Background on threads. A lane has no thread while it has nothing to do.
class ThreadBackground : public Background {
public:
    /// Throws std::system_error when the kernel has no descriptors left.
    explicit ThreadBackground(EventLoop& loop);
    /// Does not wait for work that hangs. Work that has not begun is dropped.
    ~ThreadBackground() override;
    ThreadBackground(const ThreadBackground&) = delete;
    ThreadBackground& operator=(const ThreadBackground&) = delete;

    /// Drops each `then` of earlier calls of run(), with what it owns. Call this before you destroy something that they use. What
    /// they own may call run() when it is destroyed.
    void forget() { (void)std::exchange(then_, {}); }

    bool run(Lane lane, std::function<void()> work, std::function<void()> then) override;
    std::uint64_t refused(Lane lane) const override { return refused_[static_cast<std::size_t>(lane)]; }

private:
    struct Shared;
    void finishOne();

    std::shared_ptr<Shared> shared_; ///< shared with the threads, which may outlive this object
    // Not shared with the threads: the loop's thread calls these functions, so it must also destroy them and what they own.
    std::map<std::uint64_t, std::function<void()>> then_;
    std::uint64_t lastId_ = 0;
    std::array<std::uint64_t, kLanes> refused_{};
    EventHandle readable_;
};

} // namespace pinfold
