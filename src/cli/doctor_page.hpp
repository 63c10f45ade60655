// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/terminal.hpp"
#include "doctor/checks.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pinfold {

/// Returns the output of `pinfold doctor`: each finding with its remedy. If `width` is not 0, doctorPage() wraps the lines at
/// `width` columns.
std::string doctorPage(const std::vector<doctor::Finding>& findings, const Terminal& terminal, std::size_t width,
                       bool onlyProblems = false);

} // namespace pinfold
