// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches and ends the tasks with the numbers 1 and higher. The end of task 0 ends the job, but the end of any other task does
// not end the job.
#pragma once

#include "core/core.hpp"

namespace pinfold {

class TaskEnder {
public:
    explicit TaskEnder(Core& core) : core_(core) {}

    /// Watches the task's leader and scope. If the leader has ended already, watch() handles the end at once.
    void watch(const JobPtr& job, std::uint32_t number);

    /// Checks whether the task's scope still has processes.
    void check(const JobPtr& job, std::uint32_t number);

    /// Stores the supervisor's report on how the leader of the task ended. The supervisor often reports the leader's end after
    /// the task is over.
    void reportExit(const JobPtr& job, std::uint32_t number, const EndReport& report);

private:
    void leaderGone(const JobPtr& job, std::uint32_t number);
    void supervisorGone(const JobPtr& job, std::uint32_t number);
    void end(const JobPtr& job, std::uint32_t number);
    void terminate(const JobPtr& job, std::uint32_t number);
    void kill(const JobPtr& job, std::uint32_t number);

    Core& core_;
};

} // namespace pinfold
