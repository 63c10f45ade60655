// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace pinfold {

/// Returns a text such as ", did you mean 'list'?" if a known word is similar, and otherwise an empty text.
std::string suggestion(const std::string& typed, const std::vector<std::string>& known);

/// Returns the end of an error message about an unknown word, for example ": use report, warn or kill". If a known word is
/// similar, the result of correction() begins with the result of suggestion().
std::string correction(const std::string& typed, const std::vector<std::string>& known);

} // namespace pinfold
