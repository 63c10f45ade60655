// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/verbs.hpp"

namespace pinfold {

/// Does `pinfold strays --files`.
ExitStatus straysFiles(const VerbContext& context);

} // namespace pinfold
