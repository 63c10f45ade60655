// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/context.hpp"

#include <sys/types.h>

#include <functional>
#include <string>

namespace pinfold {

/// SIGKILL to all that is in a cgroup, whatever it does.
class Killer {
public:
    explicit Killer(CoreContext& context) : context_(context) {}

    /// `cgroup`: the path, with those nested in it. Most processes have ended a moment later, when `look` has ProcessKiller end
    /// those that the kernel has left out. A cgroup that is gone is no error. Error: Internal.
    Result<void> kill(const std::string& cgroup, EventHandle& look);
    /// For a job that outlives SIGKILL: kill() again, without a moment's wait, and the end of the owner's processes that trace it
    /// (ProcessKiller::killTracers), which is said. `then`: all of it has been done. It may have waited behind the kills of
    /// others. False: too many of these wait, and `then` is not called.
    bool killStubborn(const JobKey& key, uid_t owner, std::function<void()> then) const;

private:
    CoreContext& context_;
};

} // namespace pinfold
