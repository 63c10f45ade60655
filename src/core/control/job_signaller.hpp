// SPDX-License-Identifier: LGPL-2.1-or-later
// Sends a signal to the processes of a job, without ending the job.
#pragma once

#include "core/core.hpp"

namespace pinfold {

class JobSignaller {
public:
    explicit JobSignaller(Core& core) : core_(core) {}

    /// Sends the signal to all processes of the job. Errors: JobEnding, SystemdFailed.
    void send(const JobPtr& job, int signal, Reply<void> reply);

    /// Sends the signal for the job's owner, to those processes that the owner could reach by kill(2). Errors: Denied if the
    /// owner can reach no process of the job; Busy, JobEnding, Internal.
    void sendAsOwner(const JobPtr& job, int signal, const Reply<void>& reply);

private:
    void toOwners(const JobPtr& job, int signal, const Reply<void>& reply);

    Core& core_;
};

} // namespace pinfold
