// SPDX-License-Identifier: LGPL-2.1-or-later
// What sge_execd reads when a shepherd has ended: the files exit_status, error and usage of the job's spool directory.
// Reference: common/execution_states.h, daemons/execd/reaper_execd.c and daemons/qmaster/job_exit.c of 8.1.9.
#pragma once

#include "base/error_code.hpp"
#include "model/receipt.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// What becomes of a job whose shepherd says so in exit_status. Of an interactive job and of a slave task nothing is put back:
/// qrsh fails, whichever it is.
enum class GridEngineVerdict : int {
    /// Back to the queue, in its old place; and the host's queues get state E, with the reason: a node that can start no job
    /// would
    /// otherwise draw all that wait, one after the other.
    NodeFailed = 7,
    /// Back to the queue, behind the others, also with -r n: it has not run.
    TryAgain = 25,
    /// Held in state Eqw, with the reason: it would fail again.
    JobFailed = 30,
    /// Over, and never run again: "failed 100: assumedly after job".
    AfterJob = 100,
};

/// Of a job that pinfoldd did not start.
GridEngineVerdict verdictOn(ErrorCode failure);

/// How the job ended, by the file usage; nullopt: that doesn't say. (A shepherd's own exit status says how the shepherd fared.)
std::optional<ExitState> exitFromUsage(std::string_view usage);

/// The file usage with the receipt's times and peak of memory where they are larger: the shepherd's have neither what its child's
/// children did unwaited for, nor what left them. As it is where the job has had further tasks here: they have shepherds of their
/// own, and all would count the whole job.
std::string usageWithReceipt(std::string_view usage, const Receipt& receipt);

/// The file usage of a shepherd that was killed before it wrote one. Times are of CLOCK_REALTIME, seconds.
std::string usageOfKilled(int signal, std::uint64_t start, std::uint64_t end);

/// The first line of the file error, which qstat, qacct's reader and the mail show, for a shepherd that was killed.
std::string causeOfKilled(int signal, const Receipt& receipt);

} // namespace pinfold
