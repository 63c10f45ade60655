// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <map>
#include <memory>

namespace pinfold {

/// How many calls of each user wait for a job's end. Each costs memory until then, also when its caller has left the bus.
class Waits {
public:
    static constexpr std::size_t kMost = 16384; ///< a user may well have 10,000 jobs with a supervisor each

    /// One more, until the last copy of the result goes. Null: the user has too many.
    std::shared_ptr<void> enter(uid_t uid);

private:
    using Counts = std::map<uid_t, std::size_t>;
    std::shared_ptr<Counts> counts_ = std::make_shared<Counts>(); ///< shared: a wait may outlive this object
};

} // namespace pinfold
