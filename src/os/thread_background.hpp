// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/background.hpp"
#include "os/event_loop.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

namespace pinfold {

/// Implements Background with threads. If a lane has had no work for a short time, the threads of the lane end.
class ThreadBackground : public Background {
public:
    /// Throws std::system_error if the process has no free descriptor.
    explicit ThreadBackground(EventLoop& loop);
    /// The destructor does not wait for work that hangs, and drops work that has not begun.
    ~ThreadBackground() override;
    ThreadBackground(const ThreadBackground&) = delete;
    ThreadBackground& operator=(const ThreadBackground&) = delete;

    /// Destroys the `then` functions of all earlier calls of run(). A destroyed `then` function also destroys the objects that
    /// the function owns. Call forget() before you destroy an object that a `then` function uses. A `then` function can own
    /// objects whose destructors call run().
    void forget() { (void)std::exchange(then_, {}); }

    bool run(Lane lane, std::function<void()> work, std::function<void()> then) override;

private:
    struct Shared;
    void finishOne();

    std::shared_ptr<Shared> shared_; ///< a shared object, because the threads that use it can outlive the ThreadBackground
    // The event loop's thread does not share the `then` functions with other threads. Only the event loop's thread may call or
    // destroy a `then` function.
    std::map<std::uint64_t, std::function<void()>> then_;
    std::uint64_t lastId_ = 0;
    EventHandle readable_;
};

} // namespace pinfold
