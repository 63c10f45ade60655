// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/table.hpp"

#include "base/parse.hpp"
#include "cli/format.hpp"

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

/// Returns the character at `at`. The text comes from printable(), so it is UTF-8. In a locale that cannot read UTF-8, each byte
/// counts as one character.
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

/// Replaces the separator in a field, because the name of a user's process or cgroup may contain it.
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

using Row = std::vector<std::string>;

/// Describes how a column is shown.
struct Shown {
    const Column* column;
    std::size_t index; ///< the index of the column's field in each row
    std::size_t width;

    std::size_t leastWidth() const { return column->least == 0 ? width : std::min(width, column->least); }
};

std::vector<Shown> naturalWidths(const std::vector<Column>& columns, const std::vector<Row>& rows, bool legend) {
    std::vector<Shown> shown;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        auto width = legend ? displayWidth(columns[i].name) : 0;
        for (const auto& row : rows)
            width = std::max(width, displayWidth(row[i]));
        shown.push_back({&columns[i], i, width});
    }
    return shown;
}

template <class F> std::size_t total(const std::vector<Shown>& shown, F&& widthOf) {
    std::size_t sum = 0;
    for (const auto& column : shown)
        sum += widthOf(column) + kGapWidth;
    return sum - std::min(sum, kGapWidth);
}

void letColumnsLeave(std::vector<Shown>& shown, std::size_t limit) {
    while (total(shown, [](const Shown& column) { return column.leastWidth(); }) > limit) {
        const auto first = std::max_element(shown.begin(), shown.end(),
                                            [](const Shown& a, const Shown& b) { return a.column->leaves < b.column->leaves; });
        if (first == shown.end() || first->column->leaves == 0)
            return;
        shown.erase(first);
    }
}

/// Makes columns narrower until the table fits into `limit`. The widest column shrinks first. If several columns have the same
/// width, the last of them shrinks.
void narrow(std::vector<Shown>& shown, std::size_t limit) {
    const auto spare = [](const Shown& column) { return column.width > column.leastWidth() ? column.width : 0; };
    for (auto sum = total(shown, [](const Shown& column) { return column.width; }); sum > limit; --sum) {
        const auto widest = std::max_element(shown.rbegin(), shown.rend(),
                                             [&spare](const Shown& a, const Shown& b) { return spare(a) < spare(b); });
        if (widest == shown.rend() || spare(*widest) == 0)
            return;
        --widest->width;
    }
}

std::string aligned(const std::vector<Shown>& shown, const Row& fields) {
    std::string line;
    for (const auto& column : shown) {
        const auto field = cutToWidth(fields[column.index], column.width);
        const std::string padding(column.width - std::min(column.width, displayWidth(field)), ' ');
        const bool last = &column == &shown.back();
        line += column.column->number ? padding + field : last ? field : field + padding;
        line += last ? "" : kGap;
    }
    return line;
}

} // namespace

std::string tableTime(std::uint64_t realtimeUsec, const TableStyle& style) {
    return style.width > 0 ? formatShortUtc(realtimeUsec, style.now) : formatUtc(realtimeUsec);
}

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
    Row header;
    for (const auto& column : columns)
        header.push_back(upper(column.name));
    auto shown = naturalWidths(columns, rows, style.legend);
    const bool bounded = style.width > 0;
    if (bounded) {
        letColumnsLeave(shown, style.width);
        narrow(shown, style.width);
    }
    std::string text;
    const auto add = [&](const Row& fields) {
        if (style.parsable)
            text += joined(fields);
        else
            text += (bounded ? cutToWidth(aligned(shown, fields), style.width) : aligned(shown, fields)) + "\n";
    };
    if (style.legend)
        add(header);
    for (const auto& row : rows)
        add(row);
    return text;
}

} // namespace pinfold
