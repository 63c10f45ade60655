// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "os/event_loop.hpp"

#include <malloc.h>

#include <cstdint>

namespace pinfold {

/// Gives freed memory back to the system (malloc_trim(3)). Without malloc_trim(), freed memory stays with the process as long as
/// memory at a higher address is in use.
class FreedMemory {
public:
    /// The time kDelay is enough for pinfoldd to send a long answer and to free the answer's memory.
    static constexpr Microseconds kDelay = 1s;

    explicit FreedMemory(EventLoop& loop) : loop_(loop) {}

    /// Call giveBack() when pinfoldd begins to send a long answer. giveBack() immediately returns freed memory (for example the
    /// memory of the answer's data) to the system. After kDelay, pinfoldd has sent the answer, and giveBack() returns the memory
    /// of the sent answer to the system.
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
