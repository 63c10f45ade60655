// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ship/schedule.hpp"

#include <algorithm>

namespace pinfold {

Microseconds Schedule::part(Microseconds whole, double share) {
    return Microseconds(static_cast<Microseconds::rep>(static_cast<double>(whole.count()) * share));
}

Schedule::Schedule(BootTime now, std::function<double()> random)
    : random_(std::move(random)), due_(now + part(kFirst, random_())) {}

void Schedule::waiting(BootTime now) {
    if (pause_ == 0us)
        due_ = std::min(due_, now + part(kLongest, 0.5 + random_() / 2));
}

void Schedule::urgent(BootTime now) {
    if (pause_ == 0us)
        due_ = std::min(due_, now);
}

void Schedule::succeeded(BootTime now, bool more) {
    pause_ = 0us;
    due_ = more ? now : now + part(kHeartbeat, 0.8 + random_() / 5);
}

void Schedule::failed(BootTime now, Microseconds most) {
    pause_ = std::clamp(2 * pause_, kLeastRetry, most);
    due_ = now + part(pause_, 0.5 + random_() / 2);
}

void Schedule::retry(BootTime now) {
    pause_ = 0us;
    due_ = std::min(due_, now);
}

} // namespace pinfold
