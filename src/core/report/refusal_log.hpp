// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "core/context.hpp"
#include "os/background.hpp"
#include "os/event_loop.hpp"

#include <array>
#include <cstdint>

namespace pinfold {

/// Writes warnings to the journal when Background::run() refuses work. Background::run() refuses work if too many calls hang
/// already. Each warning of RefusalLog names the kind of work that Background::run() has refused.
class RefusalLog {
public:
    /// kBetween is the shortest time between two warnings about the same Lane. On a busy node, Background can refuse thousands of
    /// calls in a second.
    static constexpr Microseconds kBetween = 60s;

    explicit RefusalLog(CoreContext& context);
    ~RefusalLog();
    RefusalLog(const RefusalLog&) = delete;
    RefusalLog& operator=(const RefusalLog&) = delete;

private:
    struct Told {
        std::uint64_t count = 0; ///< the number of refused calls that earlier warnings have counted
        EventHandle next;        ///< the timer for the next warning; unset if tell() can write a warning at once
    };

    void tell(Lane lane);

    CoreContext& context_;
    std::array<Told, kLanes> told_;
};

} // namespace pinfold
