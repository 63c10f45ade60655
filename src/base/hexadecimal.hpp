// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace pinfold {

/// Returns two lower case hexadecimal digits for each byte.
std::string hexadecimal(std::string_view bytes);

/// Reads what hexadecimal() returned. If the text did not come from hexadecimal(), the error is InvalidArgument.
Result<std::string> fromHexadecimal(std::string_view text);

} // namespace pinfold
