// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>

namespace pinfold {

/// How long a thread slept in system calls: wall time without the time that it ran or waited for a processor. For debug builds,
/// it costs some microseconds.
class LoopMeter {
public:
    /// A turn that slept longer has made a call that may block, microseconds.
    static constexpr std::uint64_t kTooLong = 100'000;

    /// Of the calling thread.
    LoopMeter();
    void begin();
    /// Since begin(), in microseconds. 0 when a page had to be read from a disk: that is no system call of ours.
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
