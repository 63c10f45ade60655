// SPDX-License-Identifier: LGPL-2.1-or-later
// Returns the help texts of `pinfold --help` and `pinfold VERB --help`.
#pragma once

#include "cli/verb.hpp"

#include <string>
#include <vector>

namespace pinfold {

std::string helpPage(const std::vector<Verb>& verbs);
std::string helpPage(const Verb& verb);

} // namespace pinfold
