// SPDX-License-Identifier: LGPL-2.1-or-later
// The files that sge_execd reads when a shepherd has ended: exit_status, error and usage in the job's spool directory.
// Reference: common/execution_states.h, daemons/execd/reaper_execd.c and daemons/qmaster/job_exit.c of 8.1.9.
#pragma once

#include "base/error_code.hpp"
#include "model/receipt.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// What Grid Engine does with a job whose shepherd writes this number to exit_status. An interactive job and a slave task are
/// never put back: qrsh fails, whichever number it is.
enum class GridEngineVerdict : int {
    /// The job goes back to the queue, in its old place. The host's queues get state E, with the reason, because a node that
    /// cannot start jobs would otherwise draw all waiting jobs, one after the other.
    NodeFailed = 7,
    /// The job goes back to the queue, behind the others, also with -r n, because it has not run.
    TryAgain = 25,
    /// The job is held in state Eqw, with the reason, because it would fail again.
    JobFailed = 30,
    /// The job is over, and is never run again: "failed 100: assumedly after job".
    AfterJob = 100,
};

/// The verdict on a job that pinfoldd did not start.
GridEngineVerdict verdictOn(ErrorCode failure);

/// How the job ended, by the file usage; nullopt: the file does not say. (A shepherd's own exit status says only how the shepherd
/// ended.)
std::optional<ExitState> exitFromUsage(std::string_view usage);

/// The file usage with the receipt's times and memory peak, where these are larger. The shepherd's figures lack processes for
/// which nobody waited, and processes that left their parents. If the job has had further tasks on this host, the file stays as
/// it is, because the tasks have shepherds of their own, and each would count the whole job.
std::string usageWithReceipt(std::string_view usage, const Receipt& receipt);

/// The file usage of a shepherd that was killed before it wrote one. Times are CLOCK_REALTIME, seconds.
std::string usageOfKilled(int signal, std::uint64_t start, std::uint64_t end);

/// The first line of the file error, which qstat, qacct's reader and the mail show, for a shepherd that was killed.
std::string causeOfKilled(int signal, const Receipt& receipt);

} // namespace pinfold
