// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace pinfold {

/// Returns the last lines of a unit's journal, as far as the caller may read them. The text is empty if journalctl is not
/// installed.
std::string journalLines(const std::string& unit);

} // namespace pinfold
