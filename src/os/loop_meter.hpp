// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>

namespace pinfold {

/// Measures how long a thread slept in system calls: wall time without the time in which it ran or waited for a processor. This
/// costs some microseconds, so it is for debug builds.
class LoopMeter {
public:
    /// Microseconds. A turn that slept longer has made a call that may block.
    static constexpr std::uint64_t kTooLong = 100'000;

    /// Measures the calling thread.
    LoopMeter();
    void begin();
    /// Microseconds that the thread has slept since begin(). 0 when a page had to be read from a disk, since that is not a system
    /// call of ours.
    std::uint64_t slept() const;

private:
    struct Times {
        std::uint64_t wall = 0; ///< microseconds
        std::uint64_t ran = 0;
        std::uint64_t delayed = 0;
        long faults = 0;
    };
    Times now() const;

    UniqueFd schedstat_;
    Times begun_;
};

} // namespace pinfold
