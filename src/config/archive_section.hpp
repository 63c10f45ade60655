// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "config/setters.hpp"

namespace pinfold {

/// Returns the configuration keys of the section [archive].
Section archiveSection();

} // namespace pinfold
