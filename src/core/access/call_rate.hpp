// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

namespace pinfold {

/// A token bucket for each user, so that one user's flood of calls costs the others little. It has no timers: the caller passes
/// the time.
class CallRate {
public:
    static constexpr double kBurst = 200;
    static constexpr double kPerSecond = 100;
    static constexpr double kPerMillisecondSpent = 1; ///< tokens; so a user gets at most a tenth of a processor

    /// Takes a token; false when the bucket is empty. `now`: microseconds of a clock that never goes back.
    bool take(uid_t uid, std::uint64_t now);
    /// Charges a call that was let in. `spent`: the microseconds of CPU time that it took. Time in which it waited does not
    /// count, because a busy node is not the caller's fault.
    void charge(uid_t uid, std::uint64_t spent);

private:
    struct Bucket {
        double tokens = kBurst;
        std::uint64_t filled = 0;
    };
    std::map<uid_t, Bucket> buckets_;
};

} // namespace pinfold
