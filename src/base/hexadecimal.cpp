// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/hexadecimal.hpp"

namespace pinfold {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

} // namespace

std::string hexadecimal(std::string_view bytes) {
    std::string text;
    text.reserve(2 * bytes.size());
    for (const char c : bytes) {
        text += kDigits[static_cast<unsigned char>(c) >> 4];
        text += kDigits[static_cast<unsigned char>(c) & 0xf];
    }
    return text;
}

Result<std::string> fromHexadecimal(std::string_view text) {
    if (text.size() % 2 != 0 || text.find_first_not_of(kDigits) != std::string_view::npos)
        return Error{ErrorCode::InvalidArgument, "the text is not two hexadecimal digits for each byte"};
    std::string bytes;
    bytes.reserve(text.size() / 2);
    for (std::size_t i = 0; i < text.size(); i += 2)
        bytes += static_cast<char>(kDigits.find(text[i]) << 4 | kDigits.find(text[i + 1]));
    return bytes;
}

} // namespace pinfold
