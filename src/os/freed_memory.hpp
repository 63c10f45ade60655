// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/event_loop.hpp"

#include <malloc.h>

#include <cstdint>

namespace pinfold {

/// Gives memory that has been freed back to the system (malloc_trim(3)). The allocator keeps it as long as something that lives
/// on lies above it.
class FreedMemory {
public:
    /// Microseconds. By then the answer for which the memory was needed is sent, and freed itself.
    static constexpr std::uint64_t kDelay = 1'000'000;

    explicit FreedMemory(EventLoop& loop) : loop_(loop) {}

    /// To be called after a long answer has been given: what it was made of goes back now, and the message itself later.
    void giveBack() {
        ::malloc_trim(0);
        if (!timer_)
            timer_ = loop_.after(kDelay, [this] {
                timer_.reset();
                ::malloc_trim(0);
            });
    }

private:
    EventLoop& loop_;
    EventHandle timer_;
};

} // namespace pinfold
