// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/access/authorizer.hpp"
#include "core/requests.hpp"

namespace pinfold {

/// Checks what `report` says about the job, and makes the texts in `report` printable. Only admins are allowed to report facts,
/// so no user can write somebody else's account into a receipt. Errors: Denied, InvalidArgument.
Result<void> prepareFacts(const Caller& caller, EndReport& report);

} // namespace pinfold
