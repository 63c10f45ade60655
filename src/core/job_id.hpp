// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <string>

namespace pinfold {

/// Makes the id of a new job as 32 hexadecimal digits. The first 48 bits of the id are the time in milliseconds, and the next 80
/// bits are random. The id is unique: no other job on any node ever gets the same id. Later jobs get greater ids, so a database
/// adds new ids at the end of its index.
std::string newJobId(RealTime time);

} // namespace pinfold
