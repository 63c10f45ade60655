// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"

#include "base/hexadecimal.hpp"

#include <cstdint>

namespace pinfold {
namespace {

bool isAlnum(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }

void appendHex(std::string& out, char c) { out += hexadecimal({&c, 1}); }

std::optional<char> hexByte(std::string_view two) {
    const auto byte = fromHexadecimal(two.substr(0, 2));
    return byte && !byte->empty() ? std::optional(byte->front()) : std::nullopt;
}

/// Returns the length of the UTF-8 sequence at the beginning of the text, and sets `codePoint` to its code point. Returns 0 if
/// the text does not begin with a well-formed sequence (Unicode 15, table 3-7).
std::size_t utf8Sequence(std::string_view text, std::uint32_t& codePoint) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto lead = byte(0);
    const std::size_t length = lead < 0x80                   ? 1
                               : lead >= 0xc2 && lead < 0xe0 ? 2
                               : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5 ? 4
                                                             : 0;
    if (length == 0 || length > text.size())
        return 0;
    codePoint = length == 1 ? lead : lead & (0xffU >> (length + 1));
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0) != 0x80)
            return 0;
        codePoint = (codePoint << 6) | (byte(i) & 0x3fU);
    }
    const bool overlong = (length == 3 && codePoint < 0x800) || (length == 4 && codePoint < 0x10000);
    const bool surrogate = codePoint >= 0xd800 && codePoint <= 0xdfff;
    return overlong || surrogate || codePoint > 0x10ffff ? 0 : length;
}

bool changesTheTerminal(std::uint32_t c) {
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

std::string forTerminal(std::string_view bytes, std::size_t maxBytes, bool backslashes) {
    constexpr std::string_view cut = "…";
    std::string out;
    std::size_t lastFitting = 0; // the greatest length at which `out` still has room for the mark "…"
    while (!bytes.empty()) {
        std::uint32_t codePoint = 0;
        const auto length = utf8Sequence(bytes, codePoint);
        std::string piece;
        const auto taken = length > 0 ? length : 1;
        if (length > 0 && !changesTheTerminal(codePoint)) {
            piece = codePoint == '\\' && backslashes ? "\\\\" : std::string(bytes.substr(0, length));
        } else {
            for (const char c : bytes.substr(0, taken)) {
                piece += "\\x";
                appendHex(piece, c);
            }
        }
        if (out.size() + piece.size() > maxBytes) {
            out.resize(lastFitting);
            if (out.size() + cut.size() <= maxBytes)
                out += cut;
            return out;
        }
        out += piece;
        if (out.size() + cut.size() <= maxBytes)
            lastFitting = out.size();
        bytes.remove_prefix(taken);
    }
    return out;
}

} // namespace

std::string escapeUnitName(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '/') {
            out += '-';
        } else if (isAlnum(c) || c == '_' || (c == '.' && i > 0)) {
            out += c;
        } else {
            out += "\\x";
            appendHex(out, c);
        }
    }
    return out;
}

std::optional<std::string> unescapeUnitName(std::string_view escaped) {
    std::string out;
    for (std::size_t i = 0; i < escaped.size(); ++i) {
        if (escaped[i] == '-') {
            out += '/';
        } else if (escaped[i] != '\\') {
            out += escaped[i];
        } else {
            const auto byte = escaped.substr(i, 2) == "\\x" ? hexByte(escaped.substr(i + 2)) : std::nullopt;
            if (!byte)
                return std::nullopt;
            out += *byte;
            i += 3;
        }
    }
    // unescapeUnitName() refuses a name in which too many or too few characters are escaped. escapeUnitName() never makes such a
    // name.
    return escapeUnitName(out) == escaped ? std::optional(out) : std::nullopt;
}

std::string escapeBusLabel(std::string_view text) {
    if (text.empty())
        return "_";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (isAlnum(c) && (i > 0 || c < '0' || c > '9')) {
            out += c;
        } else {
            out += '_';
            appendHex(out, c);
        }
    }
    return out;
}

std::optional<std::string> unescapeBusLabel(std::string_view label) {
    if (label == "_")
        return std::string();
    std::string out;
    for (std::size_t i = 0; i < label.size(); ++i) {
        if (label[i] != '_') {
            out += label[i];
            continue;
        }
        const auto byte = hexByte(label.substr(i + 1));
        if (!byte)
            return std::nullopt;
        out += *byte;
        i += 2;
    }
    return escapeBusLabel(out) == label ? std::optional(out) : std::nullopt;
}

std::string printable(std::string_view bytes, std::size_t maxBytes) { return forTerminal(bytes, maxBytes, true); }

bool isPrintable(std::string_view bytes) {
    while (!bytes.empty()) {
        std::uint32_t codePoint = 0;
        const auto length = utf8Sequence(bytes, codePoint);
        if (length == 0 || changesTheTerminal(codePoint))
            return false;
        bytes.remove_prefix(length);
    }
    return true;
}

std::string legible(std::string_view bytes, std::size_t maxBytes) { return forTerminal(bytes, maxBytes, !isPrintable(bytes)); }

} // namespace pinfold
