// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/report_html.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"
#include "wording/advice.hpp"
#include "wording/efficiency.hpp"
#include "wording/profile_text.hpp"
#include "wording/task_table.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kMostText = 4096; // the maximum length in bytes of a text that a user has chosen
constexpr std::size_t kColumns = 240;   // of a curve
constexpr double kHeight = 100;         // the height of a curve, in units of the SVG

// The policy makes a browser refuse every request and every script, even if a text became markup by a mistake in this file.
constexpr std::string_view kHead =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";

constexpr std::string_view kStyle = R"(<style>
body { margin: 0 auto; max-width: 60rem; padding: 1rem; font: 16px/1.5 system-ui, sans-serif; color: #1d2733; background: #fff }
h1 { font-size: 1.5rem; margin: 1.5rem 0 .25rem; overflow-wrap: anywhere }
h2 { font-size: 1.1rem; margin: 1.75rem 0 .5rem }
p { margin: .25rem 0 }
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
pre { overflow-x: auto; background: #f6f8fa; border-radius: .5rem; padding: .75rem; font-size: .85rem; line-height: 1.4 }
li { overflow-wrap: anywhere } li code { font-size: .85rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .9rem }
th, td { text-align: left; padding: .3rem .5rem; border-bottom: 1px solid #d6dde5 }
td { white-space: nowrap }
th.n, td.n { text-align: right }
</style>)";

std::string html(std::string_view text) {
    std::string out;
    for (const char c : legible(text, kMostText)) // the program that wrote the receipt has escaped some of the texts
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

/// Does the same as html(), for a text with line breaks.
std::string htmlLines(std::string_view text) {
    std::string out;
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find('\n', start), text.size());
        out += html(text.substr(start, end - start)) + "\n";
        start = end + 1;
    }
    return out;
}

std::string page(const std::string& title, const std::string& body) {
    return std::string(kHead) + "<title>" + html(title) + "</title>\n" + std::string(kStyle) + "\n</head><body>\n" + body +
           "</body></html>\n";
}

std::string number(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.2f", value);
    return text.data();
}

std::string percent(std::optional<double> share) { return share ? number(*share * 100) + "%" : "not known"; }

constexpr Amounts amounts{.local = true};

std::string card(const std::string& name, const std::string& value, const std::string& more, const char* tone = "") {
    return std::string("<div class=\"card ") + tone + "\"><span>" + html(name) + "</span><b>" + html(value) + "</b><span>" +
           html(more) + "</span></div>\n";
}

std::string cards(const Receipt& receipt) {
    const auto outcome = outcomeOf(receipt);
    const auto* tone = outcome == JobOutcome::Succeeded ? "good" : outcome == JobOutcome::Failed ? "bad" : "";
    const auto& need = receipt.usage.memoryNeed;
    const auto limit = finite(receipt.limits.memoryMax);
    const auto runTimeMax = finite(timeLimit(receipt.limits.runTimeMax));
    const auto cpus = cpusOf(receipt);
    return "<div class=\"cards\">\n" + card("result", std::string(toString(receipt.result)), amounts.time(receipt.ended), tone) +
           card("run time", amounts.runTime(runTime(receipt)), runTimeMax ? "of " + amounts.runTime(runTimeMax) : "no limit") +
           card("CPU efficiency", percent(cpuEfficiency(receipt)),
                amounts.duration(cpuTime(receipt.usage)) + (cpus ? " of " + amounts.duration(coreWalltime(receipt)) : "")) +
           card("memory efficiency", percent(memoryEfficiency(receipt)),
                (need ? amounts.size(need) + " needed" : std::string("need not known")) +
                    (limit ? " of " + amounts.size(limit) : std::string())) +
           "</div>\n";
}

/// Returns the curve as a path of steps, from the left border of the SVG to its right border.
std::string path(const std::vector<double>& values, double top) {
    std::string text = "M0 " + number(kHeight);
    for (std::size_t i = 0; i < values.size(); ++i)
        text += "V" + number(kHeight - values[i] / top * kHeight) + "H" + std::to_string(i + 1);
    return text + "V" + number(kHeight) + "Z";
}

std::string figure(const Profile& profile, Curve curve, const ChartLimits& limits) {
    if (!isShown(profile, curve, amounts))
        return "";
    const auto highest = highestOf(profile, curve);
    const auto values = valuesOf(profile, curve, kColumns);
    const auto limit = limitOf(curve, limits);
    auto top = std::max(*std::ranges::max_element(values), highest / 2);
    const bool drawn = limit && *limit > 0 && *limit <= top * 3;
    top = (drawn ? std::max(top, *limit) : top) * 1.05; // so that a line at the top stays visible
    std::string text = "<figure><figcaption><b>" + html(curveName(curve)) + "</b><span class=\"top\">" +
                       html(amountOf(curve, highest, amounts) + " at most" +
                            (limit ? ", limit " + amountOf(curve, *limit, amounts) : std::string())) +
                       "</span></figcaption>\n<svg viewBox=\"0 0 " + std::to_string(kColumns) + " " + number(kHeight) +
                       "\" preserveAspectRatio=\"none\" role=\"img\"><title>" + html(curveName(curve)) +
                       " over time</title><path class=\"area\" d=\"" + path(values, top) + "\"/>";
    if (drawn) {
        const auto y = number(kHeight - *limit / top * kHeight);
        text += "<line class=\"limit\" x1=\"0\" x2=\"" + std::to_string(kColumns) + "\" y1=\"" + y + "\" y2=\"" + y + "\"/>";
    }
    const auto end = amounts.duration(std::chrono::duration_cast<std::chrono::seconds>(profile.length()));
    return text + "</svg>\n<div class=\"axis\"><span>0</span><span>height " + html(amountOf(curve, top, amounts)) +
           "</span><span>" + html(end) + "</span></div></figure>\n";
}

std::string curves(const ReportedJob& job) {
    std::string text;
    for (const auto curve : kAllCurves)
        text += figure(job.profile, curve, chartLimits(job.receipt.limits));
    return text.empty() ? "" : "<h2>Use over time</h2>\n" + text;
}

std::string list(const char* title, const std::vector<std::string>& items, const char* tag) {
    if (items.empty())
        return "";
    std::string text = "<h2>" + std::string(title) + "</h2>\n<ul>\n";
    for (const auto& item : items)
        text += "<li><" + std::string(tag) + ">" + html(item) + "</" + tag + "></li>\n";
    return text + "</ul>\n";
}

std::string cell(const std::string& text, const char* style = "") {
    return std::string("<td") + style + ">" + html(text) + "</td>";
}

std::string taskRow(const std::vector<std::string>& row) {
    std::string text = "<tr>";
    for (const auto& field : row)
        text += cell(field);
    return text + "</tr>\n";
}

std::string tasks(const Receipt& receipt) {
    const auto table = taskTable(receipt, amounts, TaskReceipt::kMost);
    if (table.rows.empty())
        return "";
    std::string text = "<h2>Tasks</h2>\n<div class=\"wide\"><table>\n<tr>";
    for (const auto& name : table.rows.front())
        text += "<th>" + html(name) + "</th>";
    text += "</tr>\n";
    for (std::size_t i = 1; i < table.rows.size(); ++i)
        text += taskRow(table.rows[i]);
    text += "</table></div>\n";
    if (table.more > 0)
        text += "<p>and " + std::to_string(table.more) + " more</p>\n";
    return text + (table.exact ? "" : "<p>" + html(kInexact) + "</p>\n");
}

std::string section(const ReportedJob& job, NameOfUser nameOf) {
    const auto& receipt = job.receipt;
    return "<h1>Job " + html(receipt.key) + "</h1>\n<p>of user " + html(nameOf(receipt.uid)) + ". " +
           html(causeInWords(receipt, nameOf)) + "</p>\n" + cards(receipt) + list("Advice", adviceOn(receipt), "span") +
           curves(job) + tasks(receipt) + list("Processes that the job left behind", receipt.leftovers.commands, "code") +
           "<h2>Receipt</h2>\n<pre>" + htmlLines(receiptPage(receipt, nameOf, amounts, 80)) + "</pre>\n";
}

std::string row(const Receipt& receipt, NameOfUser nameOf) {
    constexpr const char* right = " class=\"n\"";
    const auto& usage = receipt.usage;
    return "<tr>" + cell(receipt.key) + cell(amounts.duration(unusedCpu(receipt)), right) +
           cell(percent(cpuEfficiency(receipt)), right) + cell(amounts.size(usage.memoryNeed), right) +
           cell(percent(memoryEfficiency(receipt)), right) + cell(amounts.runTime(runTime(receipt)), right) +
           cell(std::string(toString(receipt.result))) + cell(amounts.time(receipt.ended)) + cell(nameOf(receipt.uid)) +
           "</tr>\n";
}

} // namespace

Microseconds unusedCpu(const Receipt& receipt) {
    const auto whole = coreWalltime(receipt);
    const auto used = cpuTime(receipt.usage);
    return whole && used ? *whole - std::min(*whole, *used) : 0s;
}

std::string htmlReport(const std::vector<ReportedJob>& jobs, NameOfUser nameOf) {
    std::string body;
    for (const auto& job : jobs)
        body += section(job, nameOf);
    return page(jobs.size() == 1 ? "Job " + jobs.front().receipt.key : "Jobs", body);
}

std::string htmlList(std::vector<Receipt> receipts, NameOfUser nameOf) {
    std::ranges::stable_sort(receipts, std::ranges::greater(), unusedCpu);
    std::string body =
        "<h1>" + counted(receipts.size(), "job", "jobs") +
        "</h1>\n<p>The job that left the most CPU time unused comes first.</p>\n<div class=\"wide\"><table>\n<tr>"
        "<th>job</th><th class=\"n\">unused CPU time</th><th class=\"n\">CPU efficiency</th><th class=\"n\">memory needed</th>"
        "<th class=\"n\">memory efficiency</th><th class=\"n\">run time</th><th>result</th><th>ended</th><th>user</th></tr>\n";
    for (const auto& receipt : receipts)
        body += row(receipt, nameOf);
    return page("Jobs", body + "</table></div>\n");
}

} // namespace pinfold
