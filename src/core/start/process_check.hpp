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

/// Describes, by its pidfd, a process that somebody wants in a job.
struct CheckedProcess {
    UniqueFd pidfd;
    ProcessIdentity identity;
    uid_t uid = 0;                     ///< the real user id
    std::optional<uid_t> soleUid;      ///< the user id, if the real, effective and saved user ids are the same; otherwise unset
    std::optional<UnitIdentity> inJob; ///< the job that has the process already, if any
};

/// Checks and describes the process behind a pidfd. Errors: PidGone; InvalidArgument for pid 1, pinfoldd itself, kernel threads
/// and descriptors that are not pidfds.
Result<CheckedProcess> checkProcess(const CoreContext& context, UniqueFd pidfd);

/// Returns the same process with a further pidfd of its own, for a ScopeStarter. `soleUid` is that of CheckedProcess. Error: Busy
/// if no descriptor is left.
Result<Newcomer> newcomerOf(pid_t pid, const UniqueFd& pidfd, std::optional<uid_t> soleUid);

/// Checks a process that is to be the supervisor of one of the caller's jobs or tasks. `leader` is the leader of that job or
/// task. Errors: those of checkProcess(); Denied if the process belongs to another user, is in a job, or is the leader.
Result<CheckedProcess> checkSupervisor(const CoreContext& context, const Caller& caller, UniqueFd pidfd,
                                       std::optional<ProcessIdentity> leader);

/// Succeeds if enough descriptors are left for one more job or task. Error: Busy.
Result<void> checkDescriptors();
/// Does what checkDescriptors() does, for a job or task that `caller` asks for: ordinary users must leave some descriptors to
/// root.
Result<void> checkDescriptorsFor(const Caller& caller);

/// Returns a new pidfd for a process that pinfoldd knew before its restart, or an empty descriptor if the process has ended.
/// Error: Internal if pinfoldd cannot find this out, for instance because descriptors or memory have run out.
Result<UniqueFd> reopenProcess(const CoreContext& context, const ProcessIdentity& identity);

} // namespace pinfold
