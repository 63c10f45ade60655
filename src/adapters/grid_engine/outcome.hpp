// SPDX-License-Identifier: LGPL-2.1-or-later
// When a shepherd has ended, sge_execd reads the files exit_status, error and usage in the job's spool directory. The functions
// of this header make the contents of the files exit_status, error and usage. Reference: common/execution_states.h,
// daemons/execd/reaper_execd.c and daemons/qmaster/job_exit.c of Son of Grid Engine 8.1.9.
#pragma once

#include "base/error_code.hpp"
#include "model/receipt.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// GridEngineVerdict contains the numbers that grid-engine-shepherd can write to the file exit_status. Each number tells Grid
/// Engine what to do with the job. Grid Engine never puts an interactive job or a slave task back into the queue. If the job is
/// interactive, and the shepherd writes one of the numbers in GridEngineVerdict, qrsh fails.
enum class GridEngineVerdict : int {
    /// The job goes back to its old place in the queue. Grid Engine puts the queues of the host into state E, and stores the
    /// reason for the failure. (If the queues did not get state E, a node that cannot start jobs would attract all waiting jobs,
    /// one after the other.)
    NodeFailed = 7,
    /// The job goes back to the queue, behind the other jobs. The job has not run, so Grid Engine puts the job back even if the
    /// user submitted the job with `-r n`.
    TryAgain = 25,
    /// The job would fail at each new start. Grid Engine holds the job in state Eqw, and stores the reason for the failure.
    JobFailed = 30,
    /// The job is over, and Grid Engine never runs it again ("failed 100: assumedly after job").
    AfterJob = 100,
};

/// Returns the verdict for a job that pinfoldd could not start because of the error `failure`.
GridEngineVerdict verdictOn(ErrorCode failure);

/// Reads from Grid Engine's file "usage" how the job ended. Returns nullopt if the file does not say how the job ended. (A
/// shepherd's own exit status says only how the shepherd ended.)
std::optional<ExitState> exitFromUsage(std::string_view usage);

/// Returns new contents for Grid Engine's file "usage". If a time or a memory value in the receipt is larger than the value in
/// the file, the receipt's value replaces the file's value. The shepherd's figures leave out two kinds of processes: processes
/// for which no parent called wait(2), and processes that left their parents. If the job has had several tasks on this host, each
/// task has its own shepherd and its own file "usage". For a job with several tasks, usageWithReceipt() changes nothing. If
/// usageWithReceipt() used the receipt, each shepherd would report the resources of the whole job.
std::string usageWithReceipt(std::string_view usage, const Receipt& receipt);

/// Returns the text that grid-engine-shepherd writes into Grid Engine's file "usage". pinfold calls usageOfKilled() if a signal
/// killed the shepherd before the shepherd wrote the file "usage". The times in the file "usage" are CLOCK_REALTIME in seconds.
std::string usageOfKilled(int signal, std::uint64_t start, std::uint64_t end);

/// If a signal killed the shepherd, the result of causeOfKilled() becomes the first line of the file "error". Users see the first
/// line of the file "error" in qstat, in qacct and in mails.
std::string causeOfKilled(int signal, const Receipt& receipt);

} // namespace pinfold
