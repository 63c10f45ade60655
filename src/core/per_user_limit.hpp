// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>

namespace pinfold {

/// How many of something each user may have at once.
class PerUserLimit {
public:
    explicit PerUserLimit(std::size_t most) : most_(most) {}

    /// One more, until the last copy of the result goes. Null: the user has as many as allowed.
    std::shared_ptr<void> enter(uid_t uid);

private:
    using Counts = std::map<uid_t, std::size_t>;
    std::size_t most_;
    std::shared_ptr<Counts> counts_ = std::make_shared<Counts>(); ///< shared: what is held may outlive this object
};

} // namespace pinfold
