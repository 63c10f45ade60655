// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the HTML files of `pinfold report`. The HTML files do not refer to other files and have no scripts, so the browser sends
// no request. Texts that users choose, such as keys and command lines, never become markup.
#pragma once

#include "model/profile.hpp"
#include "model/receipt.hpp"
#include "wording/receipt_text.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pinfold {

struct ReportedJob {
    Receipt receipt;        ///< if the job had several hosts, this is the receipt of the host that ended the job
    Profile profile;        ///< can be empty
    std::string hosts = {}; ///< the text of hostsPage() for a job of several hosts, and otherwise empty
};

/// Returns a page with all that is known about each of the jobs.
std::string htmlReport(const std::vector<ReportedJob>& jobs, NameOfUser nameOf);

/// Returns a page with one line for each job. The job with the greatest waste comes first. The waste of a job is the sum of the
/// job's CPU share and the job's memory share. The CPU share is the job's unused CPU time, divided by the CPU time that all jobs
/// held. The memory share is the job's unused memory, divided by the memory that all jobs held.
std::string htmlList(std::vector<Receipt> receipts, NameOfUser nameOf);

/// Returns the CPU time that the job could have used but did not use. If nobody knows how much CPU time the job could have used,
/// the result is 0.
Microseconds unusedCpu(const Receipt& receipt);

/// Multiplies the memory that the job asked for but did not need by the run time. The result is in bytes times seconds. The
/// result is nullopt if the job has no memory limit. The result is nullopt if the job's memory need is not known.
std::optional<double> unusedMemory(const Receipt& receipt);

} // namespace pinfold
