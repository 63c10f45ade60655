// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace pinfold {

/// ", did you mean 'list'?" if a known word is similar, else "".
std::string suggestion(const std::string& typed, const std::vector<std::string>& known);

/// The first argument that is not an option.
std::string firstWord(int argc, char** argv);

} // namespace pinfold
