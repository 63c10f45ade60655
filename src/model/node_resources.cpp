// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/node_resources.hpp"

#include <algorithm>

namespace pinfold {

NodeShare withFree(NodeShare share) {
    if (!share.total || !share.given)
        return share;
    const auto forJobs = *share.total - std::min(*share.total, share.kept.value_or(0));
    share.free = forJobs - std::min(forJobs, *share.given);
    return share;
}

} // namespace pinfold
