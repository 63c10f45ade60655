// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks that a page of `pinfold report` has only known elements, and that a browser loads no file except the page.
#pragma once

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

namespace pinfold {

constexpr const char* kEvil = "<img src=x onerror=alert(1)>\"'&<script>alert(2)</script>";

inline std::set<std::string> tagsOf(const std::string& page) {
    static const std::regex tag("<([!a-zA-Z][a-zA-Z0-9]*)");
    std::set<std::string> names;
    for (std::sregex_iterator found(page.begin(), page.end(), tag), end; found != end; ++found)
        names.insert((*found)[1]);
    return names;
}

inline void expectHarmless(const std::string& page) {
    static const std::set<std::string> known{"!DOCTYPE", "html", "head", "meta", "title", "style", "body", "h1",     "h2",
                                             "p",        "div",  "span", "b",    "ul",    "li",    "code", "figure", "figcaption",
                                             "svg",      "path", "line", "pre",  "table", "tr",    "th",   "td"};
    for (const auto& name : tagsOf(page))
        EXPECT_TRUE(known.contains(name)) << "<" << name << ">";
    for (const char* text : {"href", "url(", "@import", "http:", "https:", "<img", "<script"})
        EXPECT_EQ(page.find(text), std::string::npos) << text;
    EXPECT_NE(page.find("default-src 'none'"), std::string::npos);
}

} // namespace pinfold
