// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/report_html.hpp"

#include "base/parse.hpp"
#include "wording/advice.hpp"
#include "wording/efficiency.hpp"
#include "wording/html.hpp"
#include "wording/profile_text.hpp"
#include "wording/task_table.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kColumns = 240; // of a curve
constexpr const char* kWasteInWords =
    "The job with the greatest waste comes first. The waste of a job is its unused CPU time as a share of the CPU time that all "
    "jobs in this list held, plus its unused memory as a share of the memory that they held. The memory that a job held or left "
    "unused is multiplied by the run time of the job.";
constexpr double kHeight = 100; // the height of a curve, in units of the SVG

/// Makes HTML from a text with line breaks: calls html() for each line.
std::string htmlLines(std::string_view text) {
    std::string out;
    for (std::size_t start = 0; start < text.size();) {
        const auto end = std::min(text.find('\n', start), text.size());
        out += html(text.substr(start, end - start)) + "\n";
        start = end + 1;
    }
    return out;
}

std::string cards(const Receipt& receipt) {
    const auto outcome = outcomeOf(receipt);
    const auto* tone = outcome == JobOutcome::Succeeded ? "good" : outcome == JobOutcome::Failed ? "bad" : "";
    const auto& need = receipt.usage.memoryNeed;
    const auto limit = finite(receipt.limits.memoryMax);
    const auto runTimeMax = timeLimit(runTimeEnd(receipt.limits));
    const auto cpus = cpusOf(receipt);
    return "<div class=\"cards\">\n" +
           card("result", std::string(toString(receipt.result)), kLocalAmounts.time(receipt.ended), tone) +
           card("run time", kLocalAmounts.runTime(runTime(receipt)),
                runTimeMax ? "of " + kLocalAmounts.runTime(runTimeMax) : "no limit") +
           card("CPU efficiency", percent(cpuEfficiency(receipt)),
                kLocalAmounts.duration(cpuTime(receipt.usage)) +
                    (cpus ? " of " + kLocalAmounts.duration(coreWalltime(receipt)) : "")) +
           card("memory efficiency", percent(memoryEfficiency(receipt)),
                (need ? kLocalAmounts.size(need) + " needed" : std::string("pinfold does not know the need")) +
                    (limit ? (need ? " of " : "; the limit is ") + kLocalAmounts.size(limit) : std::string())) +
           "</div>\n";
}

/// Returns the curve as a path of steps, from the left border of the SVG to its right border.
std::string path(const std::vector<double>& values, double top) {
    std::string text = "M0 " + twoDecimals(kHeight);
    for (std::size_t i = 0; i < values.size(); ++i)
        text += "V" + twoDecimals(kHeight - values[i] / top * kHeight) + "H" + std::to_string(i + 1);
    return text + "V" + twoDecimals(kHeight) + "Z";
}

std::string figure(const Profile& profile, Curve curve, const ChartLimits& limits) {
    if (!isShown(profile, curve, kLocalAmounts))
        return "";
    const auto highest = highestOf(profile, curve);
    const auto values = valuesOf(profile, curve, kColumns);
    const auto limit = limitOf(curve, limits);
    auto top = std::max(*std::ranges::max_element(values), highest / 2);
    const bool drawn = limit && *limit > 0 && *limit <= top * 3;
    top = (drawn ? std::max(top, *limit) : top) * 1.05; // the factor 1.05 leaves room above the curve and the line of the limit
    std::string text = "<figure><figcaption><b>" + html(curveName(curve)) + "</b><span class=\"top\">" +
                       html(headingOf(profile, curve, limits, kLocalAmounts)) + "</span></figcaption>\n<svg viewBox=\"0 0 " +
                       std::to_string(kColumns) + " " + twoDecimals(kHeight) +
                       "\" preserveAspectRatio=\"none\" role=\"img\"><title>" + html(curveName(curve)) +
                       " over time</title><path class=\"area\" d=\"" + path(values, top) + "\"/>";
    if (drawn) {
        const auto y = twoDecimals(kHeight - *limit / top * kHeight);
        text += "<line class=\"limit\" x1=\"0\" x2=\"" + std::to_string(kColumns) + "\" y1=\"" + y + "\" y2=\"" + y + "\"/>";
    }
    const auto end = kLocalAmounts.duration(std::chrono::duration_cast<std::chrono::seconds>(profile.length()));
    return text + "</svg>\n<div class=\"axis\"><span>0</span><span>vertical axis: 0 to " +
           html(amountOf(curve, top, kLocalAmounts)) + "</span><span>" + html(end) + "</span></div></figure>\n";
}

std::string curves(const ReportedJob& job) {
    std::string text;
    for (const auto curve : kAllCurves)
        text += figure(job.profile, curve, chartLimits(job.receipt.limits, job.receipt.slots));
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

std::string taskRow(const std::vector<std::string>& row) {
    std::string text = "<tr>";
    for (const auto& field : row)
        text += cell(field);
    return text + "</tr>\n";
}

std::string tasks(const Receipt& receipt) {
    const auto table = taskTable(receipt, kLocalAmounts, TaskReceipt::kMost);
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

/// Says what ended a job of several hosts. If a job had several hosts, the rest of the job's section describes the host that
/// ended the job.
std::string hosts(const ReportedJob& job) {
    if (job.hosts.empty())
        return "";
    return "<h2>All hosts</h2>\n<pre>" + htmlLines(job.hosts) + "</pre>\n<h2>Host " +
           html(job.receipt.origin.host.value_or("(not known)")) + "</h2>\n";
}

std::string section(const ReportedJob& job, NameOfUser nameOf) {
    const auto& receipt = job.receipt;
    return "<h1>Job " + html(receipt.key) + "</h1>\n" + hosts(job) + "<p>of user " + html(nameIn(receipt, receipt.uid, nameOf)) +
           ". " + html(causeInWords(receipt, nameOf)) + "</p>\n" + cards(receipt) + list("Advice", adviceOn(receipt), "span") +
           curves(job) + tasks(receipt) + list("Processes that the job left behind", receipt.leftovers.commands, "code") +
           "<h2>Receipt</h2>\n<pre>" + htmlLines(receiptPage(receipt, nameOf, kLocalAmounts, 80)) + "</pre>\n";
}

std::string gibHours(std::optional<double> byteSeconds) {
    return byteSeconds ? twoDecimals(*byteSeconds / 0x1p30 / 3600) + " GiB h" : "-";
}

double heldMemory(const Receipt& receipt) {
    const auto limit = finite(receipt.limits.memoryMax);
    return limit ? static_cast<double>(*limit) * std::chrono::duration<double>(runTime(receipt)).count() : 0;
}

/// Sorts the jobs so that the job with the greatest waste comes first. CPU time and memory have no common unit, so sortByWaste()
/// adds two shares. The first share is the job's unused CPU time, divided by the CPU time of all jobs. The second share is the
/// job's unused memory, divided by the memory of all jobs.
void sortByWaste(std::vector<Receipt>& receipts) {
    double allCpu = 0;
    double allMemory = 0;
    for (const auto& receipt : receipts) {
        allCpu += static_cast<double>(coreWalltime(receipt).value_or(0s).count());
        allMemory += heldMemory(receipt);
    }
    std::ranges::stable_sort(receipts, std::ranges::greater(), [&](const Receipt& receipt) {
        return (allCpu > 0 ? static_cast<double>(unusedCpu(receipt).count()) / allCpu : 0) +
               (allMemory > 0 ? unusedMemory(receipt).value_or(0) / allMemory : 0);
    });
}

std::string row(const Receipt& receipt, NameOfUser nameOf) {
    constexpr const char* right = " class=\"n\"";
    const auto& usage = receipt.usage;
    return "<tr>" + cell(receipt.key) + cell(kLocalAmounts.duration(unusedCpu(receipt)), right) +
           cell(percent(cpuEfficiency(receipt)), right) + cell(gibHours(unusedMemory(receipt)), right) +
           cell(kLocalAmounts.size(usage.memoryNeed), right) + cell(percent(memoryEfficiency(receipt)), right) +
           cell(kLocalAmounts.runTime(runTime(receipt)), right) + cell(std::string(toString(receipt.result))) +
           cell(kLocalAmounts.time(receipt.ended)) + cell(nameIn(receipt, receipt.uid, nameOf)) + "</tr>\n";
}

} // namespace

Microseconds unusedCpu(const Receipt& receipt) {
    const auto whole = coreWalltime(receipt);
    const auto used = cpuTime(receipt.usage);
    return whole && used ? *whole - std::min(*whole, *used) : 0s;
}

std::optional<double> unusedMemory(const Receipt& receipt) {
    const auto limit = finite(receipt.limits.memoryMax);
    const auto need = receipt.usage.memoryNeed;
    if (!limit || !need)
        return std::nullopt;
    return static_cast<double>(*limit - std::min(*limit, *need)) * std::chrono::duration<double>(runTime(receipt)).count();
}

std::string htmlReport(const std::vector<ReportedJob>& jobs, NameOfUser nameOf) {
    std::string body;
    for (const auto& job : jobs)
        body += section(job, nameOf);
    return htmlDocument(jobs.size() == 1 ? "Job " + jobs.front().receipt.key : "Jobs", body);
}

std::string htmlList(std::vector<Receipt> receipts, NameOfUser nameOf) {
    sortByWaste(receipts);
    std::string body =
        "<h1>" + counted(receipts.size(), "job", "jobs") + "</h1>\n<p>" + kWasteInWords + "</p>\n" +
        "<div class=\"wide\"><table>\n<tr><th>job</th><th class=\"n\">unused CPU time</th><th class=\"n\">CPU efficiency</th>"
        "<th class=\"n\">unused memory</th><th class=\"n\">memory needed</th><th class=\"n\">memory efficiency</th>"
        "<th class=\"n\">run time</th><th>result</th><th>ended</th><th>user</th></tr>\n";
    for (const auto& receipt : receipts)
        body += row(receipt, nameOf);
    return htmlDocument("Jobs", body + "</table></div>\n");
}

} // namespace pinfold
