// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/per_user_limit.hpp"

namespace pinfold {

std::shared_ptr<void> PerUserLimit::enter(uid_t uid) {
    const auto user = counts_->ofUser.find(uid);
    if (counts_->ofAll >= mostOfAll_ || (user != counts_->ofUser.end() && user->second >= most_))
        return nullptr;
    ++counts_->ofUser[uid];
    ++counts_->ofAll;
    return {this, [counts = counts_, uid](void*) {
                --counts->ofAll;
                if (--counts->ofUser[uid] == 0)
                    counts->ofUser.erase(uid);
            }};
}

} // namespace pinfold
