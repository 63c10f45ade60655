// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <sys/types.h>

#include <set>

namespace pinfold {

/// The members of the group pinfold-admin, as the system's user database has them now. May ask the network: at start and
/// reload only.
std::set<uid_t> adminUsers();

} // namespace pinfold
