// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/escape.hpp"
#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

namespace pinfold {
namespace {

std::string allBytes() {
    std::string text;
    for (int byte = 0; byte < 256; ++byte)
        text += static_cast<char>(byte);
    return text;
}

bool isUnitCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '\\'; }

TEST(EscapeUnitName, followsSystemdEscape) {
    EXPECT_EQ(escapeUnitName("sge.4711"), "sge.4711");
    EXPECT_EQ(escapeUnitName("pbs.12[7].server"), "pbs.12\\x5b7\\x5d.server");
    EXPECT_EQ(escapeUnitName("a-b/c"), "a\\x2db-c");
    EXPECT_EQ(escapeUnitName(".hidden"), "\\x2ehidden");
    EXPECT_EQ(escapeUnitName("ü"), "\\xc3\\xbc");
}

TEST(EscapeUnitName, escapesTheColonToo) { EXPECT_EQ(escapeUnitName("a:b"), "a\\x3ab"); }

TEST(EscapeUnitName, everyByteComesBack) {
    EXPECT_EQ(unescapeUnitName(escapeUnitName(allBytes())), allBytes());
    for (const char byte : allBytes())
        for (const std::string& text : {std::string(1, byte), "x" + std::string(1, byte)}) {
            const auto escaped = escapeUnitName(text);
            EXPECT_EQ(unescapeUnitName(escaped), text);
            EXPECT_EQ(byte == '/', !std::all_of(escaped.begin(), escaped.end(), isUnitCharacter)) << escaped;
        }
}

TEST(UnescapeUnitName, refusesWhatEscapeDoesNotWrite) {
    for (const char* text : {"\\", "\\x", "\\x2", "\\x2D", "\\x61", "\\X2d", "a:b", "a b", ".a", "\\xzz", "\\n", "ü"})
        EXPECT_EQ(unescapeUnitName(text), std::nullopt) << text;
}

TEST(EscapeBusLabel, followsSdBusPathEncode) {
    EXPECT_EQ(escapeBusLabel(""), "_");
    EXPECT_EQ(escapeBusLabel("sge.4711"), "sge_2e4711");
    EXPECT_EQ(escapeBusLabel("4711"), "_34711");
    EXPECT_EQ(escapeBusLabel("a_b"), "a_5fb");
}

TEST(EscapeBusLabel, everyByteComesBack) {
    EXPECT_EQ(unescapeBusLabel(escapeBusLabel(allBytes())), allBytes());
    EXPECT_EQ(unescapeBusLabel("_"), "");
    for (const char byte : allBytes()) {
        const auto label = escapeBusLabel(std::string(1, byte));
        EXPECT_EQ(unescapeBusLabel(label), std::string(1, byte)) << label;
    }
}

TEST(UnescapeBusLabel, refusesWhatEscapeDoesNotWrite) {
    for (const char* text : {"", "__", "_2", "_2E", "_61", "4711", "a.b", "a-b", "a_"})
        EXPECT_EQ(unescapeBusLabel(text), std::nullopt) << text;
}

TEST(Unescape, isTheInverseOnDamagedNames) {
    Mutator mutator;
    for (int i = 0; i < 20000; ++i) {
        const auto unit = mutator.mutate(escapeUnitName("pbs.12[7].server"));
        if (const auto text = unescapeUnitName(unit)) {
            EXPECT_EQ(escapeUnitName(*text), unit);
        }
        const auto label = mutator.mutate(escapeBusLabel("pbs.12[7].server"));
        if (const auto text = unescapeBusLabel(label)) {
            EXPECT_EQ(escapeBusLabel(*text), label);
        }
    }
}

TEST(Printable, leavesTextAlone) {
    EXPECT_EQ(printable("make -j2 'all tests'"), "make -j2 'all tests'");
    EXPECT_EQ(printable("grün 日本 🚀"), "grün 日本 🚀");
}

TEST(Printable, escapesWhatTerminalsObey) {
    EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
    EXPECT_EQ(printable("line\nline\t\r"), "line\\x0aline\\x09\\x0d");
    EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
    EXPECT_EQ(printable("\u0085\u009b"), "\\xc2\\x85\\xc2\\x9b");
    EXPECT_EQ(printable("\u202e\u2066\u061c\u200f"), "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xd8\\x9c\\xe2\\x80\\x8f");
    EXPECT_EQ(printable("a\\x1b"), "a\\\\x1b");
}

TEST(Printable, escapesWhatIsNoUtf8) {
    EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
    EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");                   // overlong
    EXPECT_EQ(printable("\xe0\x80\x80"), "\\xe0\\x80\\x80");          // overlong
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");          // surrogate
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); // above U+10FFFF
    EXPECT_EQ(printable("\xe6\x97"), "\\xe6\\x97");                   // ends early
    EXPECT_EQ(printable("\xe6X"), "\\xe6X");
}

TEST(Printable, cutsBetweenCharacters) {
    EXPECT_EQ(printable("abcdef", 6), "abcdef");
    EXPECT_EQ(printable("abcdefg", 6), "abc…");
    EXPECT_EQ(printable("ab日本", 8), "ab日本");
    EXPECT_EQ(printable("ab日本!", 8), "ab日…");
    EXPECT_EQ(printable("ab日本!", 7), "ab…");
    EXPECT_EQ(printable("a\n\n", 8), "a\\x0a…");
    EXPECT_EQ(printable("a\n\n", 7), "a…");
    EXPECT_EQ(printable("abcdef", 2), "");
}

TEST(Printable, keepsItsPromiseForAnyBytes) {
    Mutator mutator;
    for (int i = 0; i < 20000; ++i) {
        const auto bytes = i % 2 == 0 ? mutator.bytes(40) : mutator.mutate("grün 日本\u202e 🚀\\\x1b[0m");
        const auto limit = static_cast<std::size_t>(i % 50);
        const auto shown = printable(bytes, limit);
        EXPECT_LE(shown.size(), limit);
        // A second call of printable() must change nothing in the result, except for the backslashes that the first call has
        // added.
        std::string unescaped;
        for (std::size_t k = 0; k < shown.size(); ++k)
            unescaped += shown[k] == '\\' ? '~' : shown[k];
        EXPECT_EQ(printable(unescaped), unescaped);
    }
}

} // namespace
} // namespace pinfold
