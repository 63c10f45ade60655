// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/per_user_limit.hpp"

namespace pinfold {

std::shared_ptr<void> PerUserLimit::enter(uid_t uid) {
    auto& count = (*counts_)[uid];
    if (count >= most_)
        return nullptr;
    ++count;
    return {&count, [counts = counts_, uid](void*) {
                if (--(*counts)[uid] == 0)
                    counts->erase(uid);
            }};
}

} // namespace pinfold
