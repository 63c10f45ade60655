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
#include <string>

namespace pinfold {

/// Describes a process that a caller wants to add to a job. The caller names the process by a pidfd.
struct CheckedProcess {
    UniqueFd pidfd;
    ProcessIdentity identity;
    uid_t uid = 0;                ///< the real user id of the process
    std::optional<uid_t> soleUid; ///< the user id of the process; unset if the real, effective and saved user ids are different
    std::string name;             ///< the name of the program that the process runs
    std::optional<UnitIdentity> inJob; ///< the job to which the process belongs; unset if the process does not belong to a job
};

/// Checks and describes the process to which `pidfd` refers. The error is PidGone if the process has ended. The error is
/// InvalidArgument for pid 1, pinfoldd, a kernel thread, or a descriptor that is not a pidfd.
Result<CheckedProcess> checkProcess(const CoreContext& context, UniqueFd pidfd);

/// Returns a Newcomer for a ScopeStarter. newcomerOf() copies `pidfd` into the Newcomer. The argument `soleUid` means the same
/// as CheckedProcess::soleUid. The error is Busy if pinfoldd has no free file descriptor.
Result<Newcomer> newcomerOf(pid_t pid, const UniqueFd& pidfd, std::optional<uid_t> soleUid);

/// Checks a process that a caller wants to make the supervisor of a job or task. The argument `leader` is the leader of the job
/// or task. The error is Denied if the process is in a job or is the leader. For an ordinary user, the error is also Denied if
/// CheckedProcess::soleUid is not the id of this user. If checkProcess() fails, checkSupervisor() returns the error of
/// checkProcess().
Result<CheckedProcess> checkSupervisor(const CoreContext& context, const Caller& caller, UniqueFd pidfd,
                                       std::optional<ProcessIdentity> leader);

/// Succeeds if pinfoldd has enough free file descriptors for one more job or task. Error: Busy.
Result<void> checkDescriptors();
/// Succeeds if pinfoldd has enough free file descriptors for a job or task that `caller` requests. Requests of ordinary users
/// must leave some free file descriptors for requests of root.
Result<void> checkDescriptorsFor(const Caller& caller);

/// Returns a new pidfd for a process that an earlier pinfoldd knew. If the process has ended, the result is an empty
/// descriptor. The error is Internal if pinfoldd cannot find out whether the process has ended, for example because no file
/// descriptor is free.
Result<UniqueFd> reopenProcess(const CoreContext& context, const ProcessIdentity& identity);

} // namespace pinfold
