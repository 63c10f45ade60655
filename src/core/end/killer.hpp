// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/context.hpp"

#include <sys/types.h>

#include <functional>
#include <string>

namespace pinfold {

/// Sends SIGKILL to all processes of a cgroup, whatever they do.
class Killer {
public:
    explicit Killer(CoreContext& context) : context_(context) {}

    /// Kills the processes of the cgroup with this path, and of the cgroups nested in it. Most of them have ended a moment later.
    /// Then the timer `look` has ProcessKiller end those that the kernel has left out. A cgroup that is gone is not an error.
    /// Error: Internal.
    Result<void> kill(const std::string& cgroup, EventHandle& look);
    /// Kills a job that outlives SIGKILL. Does kill() again, without a moment's wait, and ends the owner's processes that trace
    /// the job (ProcessKiller::killTracers), which it logs. `then` is called when all of this has been done, which may have
    /// waited behind the kills of others. False: too many kills wait, and `then` is not called.
    bool killStubborn(const JobKey& key, uid_t owner, std::function<void()> then) const;

private:
    CoreContext& context_;
};

} // namespace pinfold
