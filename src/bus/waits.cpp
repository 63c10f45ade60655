// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/waits.hpp"

namespace pinfold {

std::shared_ptr<void> Waits::enter(uid_t uid) {
    auto& count = (*counts_)[uid];
    if (count >= kMost)
        return nullptr;
    ++count;
    return {&count, [counts = counts_, uid](void*) {
                if (--(*counts)[uid] == 0)
                    counts->erase(uid);
            }};
}

} // namespace pinfold
