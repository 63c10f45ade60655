// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/access/authorizer.hpp"
#include "core/requests.hpp"

namespace pinfold {

/// Checks what `report` says about the job, and makes the texts in `report` printable. Only admins are allowed to report facts,
/// so an ordinary user cannot write a wrong account name into a receipt. Errors: Denied, InvalidArgument.
Result<void> prepareFacts(const Caller& caller, EndReport& report);

} // namespace pinfold
