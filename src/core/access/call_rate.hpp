// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>

namespace pinfold {

/// Keeps a token bucket for each user, so that many calls from one user hardly slow down the calls of other users. Each call of
/// take() fills the user's bucket for the time since the previous call, so CallRate needs no timers.
class CallRate {
public:
    static constexpr double kBurst = 200;
    static constexpr double kPerSecond = 100;
    /// Each millisecond of CPU time costs kPerMillisecondSpent tokens. In one second, each user gets kPerSecond tokens, which pay
    /// for at most 100 ms of CPU time.
    static constexpr double kPerMillisecondSpent = 1;

    /// Takes a token from the user's bucket. Returns false if the user's bucket is empty. The argument `now` is the time on a
    /// clock that never goes back.
    bool take(uid_t uid, BootTime now);
    /// Takes tokens from the user's bucket for the CPU time of an allowed call. The argument `spent` is the CPU time of the call.
    /// The time in which a call waits costs no tokens, because a busy node is not the caller's fault.
    void charge(uid_t uid, Microseconds spent);

private:
    struct Bucket {
        double tokens = kBurst;
        BootTime filled{};
    };
    std::map<uid_t, Bucket> buckets_;
};

} // namespace pinfold
