// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace pinfold {

/// Limits how many calls or connections one user can have at the same time. PerUserLimit has a second limit for all users
/// together.
class PerUserLimit {
public:
    explicit PerUserLimit(std::size_t most, std::size_t mostOfAll = SIZE_MAX) : most_(most), mostOfAll_(mostOfAll) {}

    /// Adds 1 to the number of the user's calls or connections. The caller must keep the returned pointer until the call or the
    /// connection has ended. When the last copy of the pointer is destroyed, PerUserLimit subtracts 1 from the number. Returns
    /// null if the user has already reached `most`, or if all users together have reached `mostOfAll`.
    std::shared_ptr<void> enter(uid_t uid);

private:
    struct Counts {
        std::map<uid_t, std::size_t> ofUser; ///< the count of each user; a user whose count is 0 has no entry
        std::size_t ofAll = 0;
    };
    std::size_t most_;
    std::size_t mostOfAll_;
    /// counts_ is a shared pointer, because a pointer that enter() has returned can outlive the PerUserLimit.
    std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

} // namespace pinfold
