// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/table.hpp"

#include <algorithm>
#include <cctype>
#include <cwchar>

namespace pinfold {
namespace {

constexpr const char* kGap = "  ";
constexpr std::size_t kGapWidth = 2;

struct Glyph {
    std::size_t bytes;
    std::size_t width;
};

/// The character at `at`. Text has passed printable(), so it is UTF-8; in a locale that can't read it each byte counts one.
Glyph glyphAt(const std::string& text, std::size_t at) {
    std::mbstate_t state{};
    wchar_t character = 0;
    const auto bytes = std::mbrtowc(&character, text.data() + at, text.size() - at, &state);
    if (bytes == 0 || bytes > text.size() - at)
        return {1, 1};
    return {bytes, static_cast<std::size_t>(std::max(0, ::wcwidth(character)))};
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    return text;
}

/// A user's process or cgroup may have the separator in its name.
std::string withoutSeparator(const std::string& field) {
    std::string text;
    for (const char c : field)
        text += c == '|' ? std::string("\\x7c") : std::string(1, c);
    return text;
}

std::string joined(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i)
        line += (i > 0 ? "|" : "") + withoutSeparator(fields[i]);
    return line + "\n";
}

std::string aligned(const std::vector<Column>& columns, const std::vector<std::size_t>& widths,
                    const std::vector<std::string>& fields, std::size_t limit) {
    std::string line;
    std::size_t used = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const bool last = i + 1 == columns.size();
        auto field = fields[i];
        if (last && limit > used)
            field = cutToWidth(field, limit - used);
        const auto width = displayWidth(field);
        const std::string padding(widths[i] > width ? widths[i] - width : 0, ' ');
        line += columns[i].number ? padding + field : last ? field : field + padding;
        if (!last)
            line += kGap;
        used += widths[i] + kGapWidth;
    }
    return line + "\n";
}

} // namespace

std::size_t displayWidth(const std::string& text) {
    std::size_t width = 0;
    for (std::size_t at = 0; at < text.size();) {
        const auto glyph = glyphAt(text, at);
        width += glyph.width;
        at += glyph.bytes;
    }
    return width;
}

std::string cutToWidth(const std::string& text, std::size_t width) {
    if (displayWidth(text) <= width)
        return text;
    std::string out;
    std::size_t used = 0;
    for (std::size_t at = 0; at < text.size();) {
        const auto glyph = glyphAt(text, at);
        if (used + glyph.width + 1 > width)
            break;
        out += text.substr(at, glyph.bytes);
        used += glyph.width;
        at += glyph.bytes;
    }
    return out + "…";
}

std::string formatTable(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                        const TableStyle& style) {
    std::vector<std::string> header;
    for (const auto& column : columns)
        header.push_back(upper(column.name));
    std::vector<std::size_t> widths;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        widths.push_back(style.legend ? displayWidth(header[i]) : 0);
        for (const auto& row : rows)
            widths.back() = std::max(widths.back(), displayWidth(row[i]));
    }
    std::string text;
    const auto add = [&](const std::vector<std::string>& fields) {
        text += style.parsable ? joined(fields) : aligned(columns, widths, fields, style.width);
    };
    if (style.legend)
        add(header);
    for (const auto& row : rows)
        add(row);
    return text;
}

} // namespace pinfold
