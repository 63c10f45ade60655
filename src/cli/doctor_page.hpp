// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/terminal.hpp"
#include "doctor/checks.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pinfold {

/// The page of `pinfold doctor`: each finding with its remedy, wrapped at `width`; 0: not wrapped.
std::string doctorPage(const std::vector<doctor::Finding>& findings, const Terminal& terminal, std::size_t width);

} // namespace pinfold
