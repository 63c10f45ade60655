// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/table.hpp"

#include "base/parse.hpp"
#include "cli/format.hpp"
#include "wording/amounts.hpp"

#include <libsmartcols.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cwchar>
#include <memory>
#include <new>

namespace pinfold {
namespace {

using Row = std::vector<std::string>;

constexpr const char* kGap = "  ";
constexpr std::size_t kGapWidth = 2;

struct Glyph {
    std::size_t bytes;
    std::size_t width;
};

/// Returns the character that begins at the position `at` of the text. The text comes from printable(), so the text is valid
/// UTF-8. If the user's locale does not use UTF-8, glyphAt() counts each byte as one character.
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

Row headerOf(const std::vector<Column>& columns) {
    Row header;
    for (const auto& column : columns)
        header.push_back(upper(column.heading.empty() ? column.name : column.heading));
    return header;
}

// libsmartcols draws the tables, but pinfold itself makes the tables narrow enough for the terminal. libsmartcols cannot leave
// out columns, and does not mark the values that it has cut. Different versions of libsmartcols cut different columns. Version
// 2.38 of libsmartcols makes the columns narrower one after the other. If the command is long, libsmartcols 2.38 cuts the command
// and the user's name.

/// Describes how the table shows a column.
struct Shown {
    const Column* column;
    std::size_t index; ///< the position of the column's value in each row of the table
    std::size_t width;

    std::size_t leastWidth() const { return column->least == 0 ? width : std::min(width, column->least); }
};

std::vector<Shown> naturalWidths(const std::vector<Column>& columns, const std::vector<Row>& lines) {
    std::vector<Shown> shown;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        std::size_t width = 0;
        for (const auto& line : lines)
            width = std::max(width, displayWidth(line[i]));
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

/// Makes table columns narrower until each line of the table needs at most `limit` character cells of the terminal. narrow()
/// always shrinks the widest column. If several columns are equally wide, narrow() shrinks the last one.
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

/// A function of libsmartcols fails only when the process is out of memory.
void check(int status) {
    if (status < 0)
        throw std::bad_alloc();
}
template <class T> T* check(T* made) { return made ? made : throw std::bad_alloc(); }

struct Unref {
    void operator()(libscols_table* table) const { scols_unref_table(table); }
};
using LibraryTable = std::unique_ptr<libscols_table, Unref>;

LibraryTable newTable() {
    LibraryTable table(check(scols_new_table()));
    check(scols_table_set_termforce(table.get(), SCOLS_TERMFORCE_NEVER));
    check(scols_table_enable_noheadings(table.get(), 1));
    // printable() has already escaped all control characters. If libsmartcols escaped characters, libsmartcols would escape the
    // result of printable() a second time.
    check(scols_table_enable_noencoding(table.get(), 1));
    return table;
}

void addLine(libscols_table* table, const Row& fields) {
    auto* const line = check(scols_table_new_line(table, nullptr));
    for (std::size_t i = 0; i < fields.size(); ++i)
        check(scols_line_set_data(line, i, fields[i].c_str()));
}

std::string textOf(libscols_table* table) {
    char* text = nullptr;
    check(scols_print_table_to_string(table, &text));
    const std::unique_ptr<char, decltype(&std::free)> owner(text, &std::free);
    return text && *text ? std::string(text) + "\n" : "";
}

std::string pairs(const std::vector<Column>& columns, const std::vector<Row>& rows) {
    const auto table = newTable();
    check(scols_table_enable_export(table.get(), 1));
    for (const auto& column : columns)
        check(scols_table_new_column(table.get(), upper(column.name).c_str(), 0, 0));
    for (const auto& row : rows)
        addLine(table.get(), row);
    return textOf(table.get());
}

std::string laidOut(const std::vector<Shown>& shown, const std::vector<Row>& lines) {
    const auto table = newTable();
    check(scols_table_set_column_separator(table.get(), kGap));
    for (const auto& column : shown)
        check(scols_table_new_column(table.get(), nullptr, 0, column.column->number ? SCOLS_FL_RIGHT : 0));
    for (const auto& line : lines) {
        Row fields;
        for (const auto& column : shown)
            fields.push_back(cutToWidth(line[column.index], column.width));
        addLine(table.get(), fields);
    }
    return textOf(table.get());
}

} // namespace

std::string tableTime(RealTime time, const TableStyle& style) {
    return style.width > 0 ? formatShort(time, style.now) : formatLocal(time);
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

std::string cutLines(const std::string& text, std::size_t width, std::size_t most) {
    std::string out;
    std::size_t start = 0;
    for (std::size_t line = 0; line < most && start < text.size(); ++line) {
        const auto end = text.find('\n', start);
        out += cutToWidth(text.substr(start, end - start), width) + "\n";
        start = end + 1;
    }
    return out;
}

std::string formatTable(const std::vector<Column>& columns, const std::vector<std::vector<std::string>>& rows,
                        const TableStyle& style) {
    if (style.pairs)
        return pairs(columns, rows);
    std::vector<Row> lines;
    if (style.legend)
        lines.push_back(headerOf(columns));
    lines.insert(lines.end(), rows.begin(), rows.end());
    auto shown = naturalWidths(columns, lines);
    if (style.width == 0)
        return laidOut(shown, lines);
    letColumnsLeave(shown, style.width);
    narrow(shown, style.width);
    return cutLines(laidOut(shown, lines), style.width);
}

} // namespace pinfold
