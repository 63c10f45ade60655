// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends a signal to the processes of a job at the request of the owner or an administrator.
#pragma once

#include "core/core.hpp"

namespace pinfold {

class JobSignaller {
public:
    explicit JobSignaller(Core& core) : core_(core) {}

    /// Sends the signal to all processes of the job. Errors: JobEnding, SystemdFailed.
    void send(const JobPtr& job, int signal, Reply<void> reply);

    /// Sends the signal on behalf of the job's owner. A process gets the signal only if the owner is allowed to send signals to
    /// the process by kill(2). sendAsOwner() fails with Busy, JobEnding, Internal or Denied. If the job has processes, but the
    /// owner is allowed to signal none of these processes, the error is Denied.
    void sendAsOwner(const JobPtr& job, int signal, const Reply<void>& reply);

private:
    void toOwners(const JobPtr& job, int signal, const Reply<void>& reply);

    Core& core_;
};

} // namespace pinfold
