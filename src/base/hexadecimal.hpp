// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>

namespace pinfold {

/// Returns two lower case hexadecimal digits for each byte.
std::string hexadecimal(std::string_view bytes);

/// Returns the bytes from which hexadecimal() made the text. If the text is not two lower case hexadecimal digits for each byte,
/// the error is InvalidArgument.
Result<std::string> fromHexadecimal(std::string_view text);

} // namespace pinfold
