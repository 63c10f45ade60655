// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/deadline.hpp"
#include "base/result.hpp"

#include <string>
#include <vector>

namespace pinfold {

/// Returns at least one address of the host, in numeric form. libpq must not look up the name, because libpq would wait for the
/// name servers without a time limit. Fails with Unreachable if the name has no address, or with TimedOut if the name servers do
/// not answer in time.
Result<std::vector<std::string>> hostAddresses(const std::string& host, const Deadline& deadline);

} // namespace pinfold
