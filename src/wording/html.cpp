// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/html.hpp"

#include "base/escape.hpp"

#include <array>
#include <cstdio>

namespace pinfold {
namespace {

constexpr std::size_t kMostText = 4096; // the maximum length in bytes of a text that a user has chosen

// Because of the policy in kHead, a browser sends no request for the page, and runs no script in the page. The policy protects
// the reader even if html() by mistake lets a text become markup.
constexpr std::string_view kHead =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";

constexpr std::string_view kStyle = R"(<style>
body { margin: 0 auto; max-width: 75rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; color: #1d2733; background: #fff }
h1 { font-size: 1.5rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere }
h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem }
p { margin: .25rem 0; max-width: 60rem }
.cards { display: flex; flex-wrap: wrap; gap: .75rem; margin: 1rem 0 }
.card { flex: 1 1 9rem; border: 1px solid #d6dde5; border-radius: .5rem; padding: .5rem .75rem }
.card b { display: block; font-size: 1.3rem }
.card span, .axis, .top { color: #5a6b7d; font-size: .85rem }
.bad b { color: #b3261e } .good b { color: #1b6e3c }
figure { margin: 0 0 1.25rem }
figcaption { display: flex; justify-content: space-between; flex-wrap: wrap; gap: 0 1rem }
figcaption b { font-weight: 600 }
svg { display: block; width: 100%; height: 9rem; background: #f6f8fa; border-bottom: 1px solid #9aa7b4 }
svg * { vector-effect: non-scaling-stroke }
.area { fill: #4a90d9; fill-opacity: .35; stroke: #1f66b0; stroke-width: 1.5 }
.limit { stroke: #b3261e; stroke-width: 1.5; stroke-dasharray: 6 4 }
.axis { display: flex; justify-content: space-between }
pre { --paper: #f6f8fa; border-radius: .5rem; padding: .75rem; font-size: .85rem; line-height: 1.4 }
li { overflow-wrap: anywhere } li code { font-size: .85rem }
.wide { --paper: #fff }
.wide, pre { overflow-x: auto; background: linear-gradient(to right, var(--paper) 50%, transparent) 0 0,
  linear-gradient(to left, var(--paper) 50%, transparent) 100% 0, linear-gradient(to right, #0004, transparent) 0 0,
  linear-gradient(to left, #0004, transparent) 100% 0, var(--paper); background-repeat: no-repeat;
  background-size: 2rem 100%, 2rem 100%, .6rem 100%, .6rem 100%, auto; background-attachment: local, local, scroll, scroll, scroll }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid #d6dde5 }
td { white-space: nowrap }
th.n, td.n { text-align: right }
.bar { min-width: 6rem; height: .6rem; background: #e6ebf0; border-radius: .3rem; overflow: hidden }
.bar div { height: 100%; background: #4a90d9 }
.sum td { font-weight: 600 }
</style>)";

} // namespace

std::string html(std::string_view text) {
    std::string out;
    for (const char c : legible(text, kMostText)) // unlike printable(), legible() does not escape a text a second time
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\'':
            out += "&#39;";
            break;
        default:
            out += c;
        }
    return out;
}

std::string htmlDocument(const std::string& title, const std::string& body) {
    return std::string(kHead) + "<title>" + html(title) + "</title>\n" + std::string(kStyle) + "\n</head><body>\n" + body +
           "</body></html>\n";
}

std::string twoDecimals(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", value);
    return text.data();
}

std::string percent(std::optional<double> share) { return share ? twoDecimals(*share * 100) + "%" : "not known"; }

std::string card(const std::string& name, const std::string& value, const std::string& more, const char* tone) {
    return std::string("<div class=\"card ") + tone + "\"><span>" + html(name) + "</span><b>" + html(value) + "</b><span>" +
           html(more) + "</span></div>\n";
}

std::string cell(const std::string& text, const char* style) { return std::string("<td") + style + ">" + html(text) + "</td>"; }

} // namespace pinfold
