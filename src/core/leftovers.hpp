// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/core.hpp"

namespace pinfold {

/// Lists what a task's leader left behind, reports it (journal, signal), and adds it to the job's record. At most
/// leftovers.report_max processes are looked at one by one, so that a fork storm can't keep pinfoldd busy; the rest is counted.
/// For task 0 all of the job's processes count.
void reportLeftovers(Core& core, Job& job, std::uint32_t task);

} // namespace pinfold
