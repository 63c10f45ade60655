// SPDX-License-Identifier: LGPL-2.1-or-later
// Entries about strays for the journal.
#pragma once

#include "os/journal.hpp"
#include "strays/sweep.hpp"

namespace pinfold {

JournalEvent strayEvent(const Stray& stray, const StrayAction& action);

/// The entry that nothing was done, or nothing more.
JournalEvent straysRefusedEvent(const std::vector<std::string>& reasons);

} // namespace pinfold
