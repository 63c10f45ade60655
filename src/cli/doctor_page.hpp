// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "cli/terminal.hpp"
#include "doctor/checks.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace pinfold {

/// Returns the warnings and failures.
std::vector<doctor::Finding> problemsOf(std::vector<doctor::Finding> findings);

/// Returns the findings and their remedies as a text for people. If `width` is not 0, doctorPage() wraps the lines at `width`
/// columns.
std::string doctorPage(const std::vector<doctor::Finding>& findings, const Terminal& terminal, std::size_t width);

/// Returns the last line of `pinfold doctor`, such as "37 ok, 1 warn, 0 fail".
std::string countsLine(const std::vector<doctor::Finding>& findings);

} // namespace pinfold
