// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/context.hpp"

#include <sys/types.h>

#include <functional>
#include <string>

namespace pinfold {

/// Sends SIGKILL to all processes of a cgroup, so that none can escape.
class Killer {
public:
    explicit Killer(CoreContext& context) : context_(context) {}

    /// Kills the processes of the cgroup with this path, and of the cgroups nested in it. Most of the processes have ended a
    /// moment later. If some still live then, because the kernel has left them out, the timer `look` has ProcessKiller end them.
    /// A cgroup that is gone is not an error. Error: Internal.
    Result<void> kill(const std::string& cgroup, EventHandle& look);
    /// Kills a job that outlives SIGKILL. killStubborn() does what kill() does, but without the timer. killStubborn() also ends
    /// the owner's processes that trace the job (ProcessKiller::killTracers), and logs that. When all is done, it calls `then`;
    /// the kills of other jobs may have to be done before. Returns false if too many kills wait; then `then` is never called.
    bool killStubborn(const JobKey& key, uid_t owner, std::function<void()> then) const;

private:
    CoreContext& context_;
};

} // namespace pinfold
