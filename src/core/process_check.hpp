// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/authorizer.hpp"
#include "core/context.hpp"
#include "model/job_key.hpp"
#include "model/job_record.hpp"
#include "os/process_mover.hpp"

#include <sys/types.h>

#include <optional>

namespace pinfold {

/// A process that somebody wants in a job, as found behind its pidfd.
struct CheckedProcess {
    UniqueFd pidfd;
    ProcessIdentity identity;
    uid_t uid = 0;                     ///< real user id
    std::optional<uid_t> soleUid;      ///< real, effective and saved user id, where they are the same
    std::optional<UnitIdentity> inJob; ///< the job that it is in already
};

/// Errors: PidGone; InvalidArgument for pid 1, pinfoldd itself, kernel threads and descriptors that are no pidfd.
Result<CheckedProcess> checkProcess(const CoreContext& context, UniqueFd pidfd);

/// The same process once more, for a TaskStarter. `soleUid` as in CheckedProcess. Error: Busy, no descriptor is left.
Result<Newcomer> newcomerOf(pid_t pid, const UniqueFd& pidfd, std::optional<uid_t> soleUid);

/// A process that is to watch over one of the caller's jobs or tasks, which has this leader. Errors: as checkProcess(); Denied
/// when it is another user's, in a job, or the leader.
Result<CheckedProcess> checkSupervisor(const CoreContext& context, const Caller& caller, UniqueFd pidfd,
                                       std::optional<ProcessIdentity> leader);

/// Whether there are descriptors enough for one more job or task. Error: Busy.
Result<void> checkDescriptors();
/// The same for a job or task that this caller asks for: ordinary users leave some to root.
Result<void> checkDescriptorsFor(const Caller& caller);

/// The same process after a restart of pinfoldd; an empty descriptor when it has ended. Error: Internal, that can't be told:
/// there are no descriptors or no memory, say.
Result<UniqueFd> reopenProcess(const CoreContext& context, const ProcessIdentity& identity);

} // namespace pinfold
