// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/terminal.hpp"
#include "doctor/checks.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pinfold {

/// Returns the page of `pinfold doctor`, which has each finding with its remedy. Lines are wrapped at `width`, or not wrapped if
/// `width` is 0.
std::string doctorPage(const std::vector<doctor::Finding>& findings, const Terminal& terminal, std::size_t width);

} // namespace pinfold
