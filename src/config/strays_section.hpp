// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/setters.hpp"

namespace pinfold {

/// Returns the keys of [strays].
Section straysSection();

} // namespace pinfold
