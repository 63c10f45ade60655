// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the lines that the pages of `pinfold why` have in common.
#pragma once

#include "base/clock.hpp"
#include "model/job_identity.hpp"
#include "wording/amounts.hpp"

#include <cstddef>
#include <string>

namespace pinfold::page {

constexpr std::size_t kWidth = 80; ///< the width of the paragraphs of a page, if the caller does not give a width
constexpr std::size_t kNameWidth = 13;

/// Returns a line such as "  host         node7", with its line break.
std::string line(const std::string& name, const std::string& value);
/// Returns a line without a name. further() returns a line that continues the value of the preceding line.
std::string further(const std::string& value);

/// Returns a text in the form of the program seff, such as "25.00%".
std::string exactPercent(double share);
/// Returns the line with the CPU efficiency. The page shows the line with the CPU efficiency below the CPU time.
std::string cpuEfficiencyLine(double efficiency, Microseconds coreWalltime, double cpusHeld, const Amounts& amounts);

/// Returns the line with the hosts of a job. For a job of one host, the text is empty.
std::string nodesLine(const JobIdentity& identity);
/// Returns lines with facts about the job. The batch system or the job's owner has told pinfoldd these facts. `hosts` is the line
/// with the job's hosts. `hosts` can be empty.
std::string identityLines(const JobIdentity& identity, const std::string& hosts);

} // namespace pinfold::page
