// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/output.hpp"
#include "cli/stray_options.hpp"

namespace pinfold {

/// Does the work of `pinfold strays --files`.
ExitStatus straysFiles(const VerbContext& context, const StraysOptions& options);

} // namespace pinfold
