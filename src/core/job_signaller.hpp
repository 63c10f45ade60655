// SPDX-License-Identifier: LGPL-2.1-or-later
// A signal that somebody sends to a job's processes, which is no end of the job.
#pragma once

#include "core/core.hpp"

namespace pinfold {

class JobSignaller {
public:
    explicit JobSignaller(Core& core) : core_(core) {}

    /// To all of the job's processes. Errors: JobEnding, SystemdFailed.
    void send(const JobPtr& job, int signal, Reply<void> reply);

    /// The same for the job's owner, to those that the owner could reach by kill(2). Errors: Denied, none is; Busy, JobEnding,
    /// Internal.
    void sendAsOwner(const JobPtr& job, int signal, const Reply<void>& reply);

private:
    void toOwners(const JobPtr& job, int signal, const Reply<void>& reply);

    Core& core_;
};

} // namespace pinfold
