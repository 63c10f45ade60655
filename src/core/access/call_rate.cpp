// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/access/call_rate.hpp"

#include <algorithm>

namespace pinfold {
namespace {

constexpr std::size_t kMaxBuckets = 4096;

using Seconds = std::chrono::duration<double>;
using Milliseconds = std::chrono::duration<double, std::milli>;

} // namespace

bool CallRate::take(uid_t uid, BootTime now) {
    // After some time, a user's token bucket is full again. CallRate removes full buckets. At the user's next call, CallRate
    // makes a new bucket, which is full.
    if (buckets_.size() > kMaxBuckets)
        std::erase_if(buckets_,
                      [now](const auto& entry) { return Seconds(now - entry.second.filled).count() * kPerSecond >= kBurst; });
    auto& bucket = buckets_.try_emplace(uid, Bucket{kBurst, now}).first->second;
    bucket.tokens = std::min(kBurst, bucket.tokens + Seconds(now - bucket.filled).count() * kPerSecond);
    bucket.filled = now;
    if (bucket.tokens < 1)
        return false;
    bucket.tokens -= 1;
    return true;
}

void CallRate::charge(uid_t uid, Microseconds spent) {
    // A user's bucket can have a negative number of tokens, but never fewer than -kBurst. After an expensive call, a user has to
    // wait for at most a few seconds.
    if (const auto bucket = buckets_.find(uid); bucket != buckets_.end())
        bucket->second.tokens = std::max(-kBurst, bucket->second.tokens - Milliseconds(spent).count() * kPerMillisecondSpent);
}

} // namespace pinfold
