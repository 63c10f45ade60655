// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/history/stored_news.hpp"

#include <algorithm>
#include <utility>

namespace pinfold {

void StoredNews::add(const StoredReceipts& stored) {
    if (unreported_ && unreported_->epoch != stored.epoch)
        report();
    if (unreported_) {
        unreported_->first = std::min(unreported_->first, stored.first);
        unreported_->last = std::max(unreported_->last, stored.last);
        return;
    }
    unreported_ = stored;
    const auto now = loop_.bootTime();
    if (!reported_ || now >= *reported_ + kBetween)
        return report();
    timer_ = loop_.after(*reported_ + kBetween - now, [this] { report(); });
}

void StoredNews::report() {
    timer_.reset();
    reported_ = loop_.bootTime();
    if (const auto stored = std::exchange(unreported_, std::nullopt))
        onReport(*stored);
}

} // namespace pinfold
