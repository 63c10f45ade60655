// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>

namespace pinfold {

/// 48 bits of time in milliseconds, then 80 random bits, as 32 hexadecimal digits: unique for ever, over all nodes, and in the
/// order of creation, so that a database adds them at its end.
std::string newJobId(std::uint64_t realtimeUsec);

} // namespace pinfold
