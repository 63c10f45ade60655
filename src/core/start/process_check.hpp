// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "core/access/authorizer.hpp"
#include "core/context.hpp"
#include "model/job_key.hpp"
#include "model/job_record.hpp"
#include "os/process_mover.hpp"

#include <sys/types.h>

#include <optional>

namespace pinfold {

/// A process that somebody wants in a job, as its pidfd shows it.
struct CheckedProcess {
    UniqueFd pidfd;
    ProcessIdentity identity;
    uid_t uid = 0;                     ///< real user id
    std::optional<uid_t> soleUid;      ///< the user id, if real, effective and saved user id are the same
    std::optional<UnitIdentity> inJob; ///< the job that it is in already
};

/// Checks and describes the process behind a pidfd. Errors: PidGone; InvalidArgument for pid 1, pinfoldd itself, kernel threads
/// and descriptors that are not pidfds.
Result<CheckedProcess> checkProcess(const CoreContext& context, UniqueFd pidfd);

/// The same process with a pidfd of its own, for a ScopeStarter. `soleUid`: as in CheckedProcess. Error: Busy, because no
/// descriptor is left.
Result<Newcomer> newcomerOf(pid_t pid, const UniqueFd& pidfd, std::optional<uid_t> soleUid);

/// Checks a process that is to be the supervisor of one of the caller's jobs or tasks. `leader`: the leader of that job or task.
/// Errors: as checkProcess(); Denied when the process is another user's, is in a job, or is the leader.
Result<CheckedProcess> checkSupervisor(const CoreContext& context, const Caller& caller, UniqueFd pidfd,
                                       std::optional<ProcessIdentity> leader);

/// Success: enough descriptors are left for one more job or task. Error: Busy.
Result<void> checkDescriptors();
/// As checkDescriptors(), for a job or task that this caller asks for: ordinary users must leave some descriptors to root.
Result<void> checkDescriptorsFor(const Caller& caller);

/// A pidfd of the same process after a restart of pinfoldd; an empty descriptor when the process has ended. Error: Internal,
/// because this cannot be found out, for instance without descriptors or memory.
Result<UniqueFd> reopenProcess(const CoreContext& context, const ProcessIdentity& identity);

} // namespace pinfold
