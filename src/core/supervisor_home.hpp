// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

#include <vector>

namespace pinfold {

/// Moves supervisors into pinfold.slice, so that a restart of the batch system's own service doesn't take them along. A moment
/// late and many at once: each move stops every fork and exit of the node for a moment, and most short jobs are over by then.
class SupervisorHome {
public:
    explicit SupervisorHome(Core& core) : core_(core) {}

    void expect(const JobPtr& job);

private:
    void takeIn();
    Result<void> takeIn(const Job& job) const;

    Core& core_;
    std::vector<WeakJob> expected_;
    EventHandle timer_;
};

} // namespace pinfold
