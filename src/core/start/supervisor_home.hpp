// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

/// Moves supervisors into pinfold.slice, so that a restart of the batch system's own service does not end them. SupervisorHome
/// waits a moment and moves many supervisors at once, because each move stops every fork and exit of the node for a moment. Most
/// short jobs are over before the move.
class SupervisorHome {
public:
    explicit SupervisorHome(Core& core) : core_(core) {}

    /// Remembers to move the supervisor of this task, if the task has one. For task 0 this is the job's supervisor.
    void expect(const JobPtr& job, std::uint32_t task);

private:
    void takeIn();
    void tellThatItStays(const JobKey& job, const std::string& why) const;

    struct Expected {
        WeakJob job;
        std::uint32_t task;
    };

    Core& core_;
    std::vector<Expected> expected_;
    EventHandle timer_;
};

} // namespace pinfold
