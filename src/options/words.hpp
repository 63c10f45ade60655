// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <string>
#include <vector>

namespace pinfold {

/// Returns a text such as ", did you mean 'list'?" if a known word is similar, and otherwise an empty text.
std::string suggestion(const std::string& typed, const std::vector<std::string>& known);

/// Returns a text such as "report, warn or kill".
std::string enumerated(const std::vector<std::string>& words);

} // namespace pinfold
