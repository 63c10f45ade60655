// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace pinfold {

/// Returns the current name of the node, or an empty text if the name cannot be read. The name of the node can change while
/// pinfoldd runs.
std::string hostName();

} // namespace pinfold
