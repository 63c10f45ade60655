// SPDX-License-Identifier: LGPL-2.1-or-later
// Watches and ends the tasks from 1 on. When such a task ends, the job goes on. (The end of task 0 is the end of the job.)
#pragma once

#include "core/core.hpp"

namespace pinfold {

class TaskEnder {
public:
    explicit TaskEnder(Core& core) : core_(core) {}

    /// Watches the task's leader and scope, and acts at once on what has happened already.
    void watch(const JobPtr& job, std::uint32_t number);

    /// Looks at the task's scope, which may have run empty.
    void check(const JobPtr& job, std::uint32_t number);

private:
    void leaderGone(const JobPtr& job, std::uint32_t number);
    void supervisorGone(const JobPtr& job, std::uint32_t number);
    void end(const JobPtr& job, std::uint32_t number);
    void terminate(const JobPtr& job, std::uint32_t number);
    void kill(const JobPtr& job, std::uint32_t number);

    Core& core_;
};

} // namespace pinfold
