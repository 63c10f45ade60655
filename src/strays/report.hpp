// SPDX-License-Identifier: LGPL-2.1-or-later
// Builds the journal entries about strays.
#pragma once

#include "os/journal.hpp"
#include "strays/sweep.hpp"

namespace pinfold {

JournalEvent strayEvent(const Stray& stray, const StrayAction& action);

/// Returns the journal entry that says why `pinfold strays` did nothing, or stopped its work.
JournalEvent straysRefusedEvent(const std::vector<std::string>& reasons);

} // namespace pinfold
