// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pinfold {

/// Moves supervisors into pinfold.slice, so that a restart of the batch system's service does not end the supervisors. Each move
/// of a process into another cgroup blocks every fork and exit on the node for a moment. SupervisorHome collects supervisors for
/// a short time, and then moves all of them at once. Most short jobs end while SupervisorHome waits, so the supervisors of these
/// jobs need no move.
class SupervisorHome {
public:
    explicit SupervisorHome(Core& core) : core_(core) {}

    /// Plans to move the supervisor of the task, if the task has a supervisor. For task 0, SupervisorHome moves the supervisor
    /// of the job.
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
