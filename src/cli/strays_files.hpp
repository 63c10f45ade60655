// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/output.hpp"
#include "cli/stray_options.hpp"

namespace pinfold {

/// Does `pinfold strays --files`.
ExitStatus straysFiles(const VerbContext& context, const StraysOptions& options);

} // namespace pinfold
