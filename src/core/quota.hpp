// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

namespace pinfold {

/// A token bucket a user, so that one user's flood costs the others little. No timers: the clock is the caller's.
class Quota {
public:
    static constexpr double kBurst = 200;
    static constexpr double kPerSecond = 100;
    static constexpr double kPerMillisecondSpent = 1; ///< so a user gets a tenth of a processor at most

    /// Takes a token; false when there is none. `now` in microseconds, never going back.
    bool take(uid_t uid, std::uint64_t now);
    /// For a call that was let in: the microseconds of CPU time that it took. A busy node is not the caller's fault.
    void charge(uid_t uid, std::uint64_t spent);

private:
    struct Bucket {
        double tokens = kBurst;
        std::uint64_t filled = 0;
    };
    std::map<uid_t, Bucket> buckets_;
};

} // namespace pinfold
