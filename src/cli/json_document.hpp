// SPDX-License-Identifier: LGPL-2.1-or-later
// Include cli/json_document.hpp only in .cpp files, because the JSON library of nlohmann takes seconds to compile.
#pragma once

#include "model/json.hpp"

#include <string>

namespace pinfold {

/// Returns the object `body`, and puts the schema number before the members of `body`.
Json withSchema(Json body);

/// Adds the schema number to the object `body`, and returns the object as text.
std::string document(Json body);

} // namespace pinfold
