// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>

namespace pinfold {

/// 128 random bits as 32 hexadecimal digits: unique for ever, over all nodes.
std::string newJobId();

} // namespace pinfold
