// SPDX-License-Identifier: LGPL-2.1-or-later
#include "wording/site_report_html.hpp"

#include "harmless.hpp"

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace pinfold {
namespace {

const RealTime kSince(1'700'000'000s);
const RealTime kUntil = kSince + 168h;
constexpr const char* kHour = "3600000000";
constexpr const char* kDay = "86400000000";
constexpr const char* kGibHour = "1073741824";

ReportTable totals() {
    return {"totals",
            {"jobs", "hosts", "users", "nodes", "cpu_asked_us", "cpu_used_us", "cpu_unused_us", "cpu_used_without_request_us"},
            {{"4", "7", "2", "3", kDay, kHour, "82800000000", "0"}}};
}

/// Returns an example of the tables that the queries of src/archive/sql/report return.
std::vector<ReportTable> site() {
    return {
        totals(),
        {"completeness", {"nodes", "complete_nodes", "missing_receipts"}, {{"2000", "1998", "3"}}},
        {"end_causes",
         {"cause", "jobs", "all_rows", "all_jobs"},
         {{"exited with status 0", "3", "2", "4"}, {"out-of-memory (own-limit)", "1", "2", "4"}}},
        {"cpu_by_user",
         {"user", "jobs", "cpu_asked_us", "cpu_used_us", "cpu_unused_us", "cpu_used_without_request_us", "all_rows", "all_jobs",
          "all_cpu_asked_us", "all_cpu_used_us", "all_cpu_unused_us", "all_cpu_used_without_request_us"},
         {{"alice", "3", kDay, kHour, "82800000000", std::nullopt, "2", "4", kDay, kHour, "82800000000", kHour},
          {"1002", "1", std::nullopt, std::nullopt, std::nullopt, kHour, "2", "4", kDay, kHour, "82800000000", kHour}}},
        {"cpu_by_account",
         {"account", "jobs", "cpu_asked_us", "cpu_used_us", "cpu_unused_us", "cpu_used_without_request_us", "all_rows",
          "all_jobs", "all_cpu_asked_us", "all_cpu_used_us", "all_cpu_unused_us", "all_cpu_used_without_request_us"},
         {{std::nullopt, "4", kDay, kHour, "82800000000", kHour, "1", "4", kDay, kHour, "82800000000", kHour}}},
        {"memory_by_user",
         {"user", "jobs", "jobs_without_limit", "jobs_with_unknown_need", "memory_asked_byte_hours", "memory_needed_byte_hours",
          "all_rows", "all_jobs", "all_jobs_without_limit", "all_jobs_with_unknown_need", "all_memory_asked_byte_hours",
          "all_memory_needed_byte_hours"},
         {{"alice", "3", "1", "0", kGibHour, "268435456", "2", "4", "2", "1", kGibHour, "268435456"},
          {"1002", "1", "1", "1", std::nullopt, std::nullopt, "2", "4", "2", "1", kGibHour, "268435456"}}},
        {"memory_by_account", {"account", "jobs"}, {}},
        {"unused_cpu",
         {"user", "jobs", "cpu_asked_us", "cpu_unused_us", "all_rows", "all_jobs", "all_cpu_asked_us", "all_cpu_unused_us"},
         {{"alice", "3", kDay, "41400000000", "1", "3", kDay, "41400000000"}}},
        {"queues",
         {"queue", "jobs", "hosts", "run_time_us", "cpu_asked_us", "cpu_used_us", "all_rows", "all_jobs", "all_hosts",
          "all_run_time_us", "all_cpu_asked_us", "all_cpu_used_us"},
         {{"all.q", "3", "6", kDay, kDay, kHour, "123", "130", "150", "90000000000", kDay, kHour},
          {std::nullopt, "1", "1", kHour, std::nullopt, std::nullopt, "123", "130", "150", "90000000000", kDay, kHour}}},
        {"leftovers_by_user",
         {"user", "jobs", "leftovers", "leftover_cpu_us", "all_rows", "all_jobs", "all_leftovers", "all_leftover_cpu_us"},
         {{"alice", "1", "12", "90000000", "1", "1", "12", "90000000"}}},
        {"leftover_jobs",
         {"job", "run", "user", "hosts", "leftovers", "leftover_cpu_us", "ended", "all_rows"},
         {{"sge.4711", "1", "alice", "2", "12", "90000000", "2023-11-15 08:00:00+00", "77"}}},
        {"unkillable_by_node",
         {"node", "jobs", "most_processes", "last_ended", "all_rows", "all_jobs", "all_most_processes"},
         {{"node7", "2", "5", "2023-11-15 08:00:00+00", "1", "2", "5"}}},
        {"lost_jobs_by_node",
         {"node", "node_lost", "lost", "supervisor_lost", "last_ended", "all_rows", "all_node_lost", "all_lost",
          "all_supervisor_lost"},
         {{"node7", "2", "0", "1", "2023-11-15 08:00:00+00", "1", "2", "0", "1"}}},
        {"incomplete_nodes",
         {"node", "complete", "seen", "unsent", "rejected", "clock_off", "all_rows"},
         {{"node77", std::nullopt, "2023-11-15 09:40:00+00", "12", "0", "-00:00:03", "1"}}},
        {"gaps",
         {"node", "epoch", "first", "last", "receipts", "noted", "all_rows", "all_receipts"},
         {{"node812", "e1", "7", "9", "3", "2023-11-15 09:40:00+00", "1", "3"}}},
    };
}

std::string pageOf(const std::vector<ReportTable>& tables) {
    ::setenv("TZ", "UTC0", 1);
    ::tzset();
    return htmlSiteReport(tables, kSince, kUntil);
}

bool has(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

TEST(HtmlSiteReport, isWhatPeopleSee) {
    const auto page = pageOf(site());
    expectHarmless(page);
    const auto path = std::filesystem::path(PINFOLD_GOLDEN) / "site-report.html";
    if (std::getenv("PINFOLD_WRITE_GOLDEN"))
        std::ofstream(path) << page;
    std::ostringstream expected;
    expected << std::ifstream(path).rdbuf();
    EXPECT_EQ(page, expected.str()) << "PINFOLD_WRITE_GOLDEN=1 writes " << path << " anew";
}

TEST(HtmlSiteReport, hasSharesRatiosAndSums) {
    const auto page = pageOf(site());
    EXPECT_TRUE(
        has(page, "<td>exited with status 0</td><td class=\"n\">3</td><td><div class=\"bar\"><div style=\"width:75.00%\">"));
    EXPECT_TRUE(has(page, "<tr class=\"sum\"><td>all</td><td class=\"n\">4</td>"));
    EXPECT_TRUE(has(page, "<td class=\"n\">4.17%</td>")) << "one hour of a day of CPU time";
    EXPECT_TRUE(has(page, "<td class=\"n\">25.00%</td>")) << "256M of 1G";
    EXPECT_TRUE(has(page, "<td class=\"n\">1G·h</td>"));
}

TEST(HtmlSiteReport, sharesAndSumsAlsoCountTheRowsThatTheQueryHasLeftOut) {
    const auto page =
        pageOf({{"cpu_by_user",
                 {"user", "jobs", "cpu_asked_us", "cpu_used_us", "all_rows", "all_jobs", "all_cpu_asked_us", "all_cpu_used_us"},
                 {{"alice", "3", kDay, kHour, "1001", "5000", "172800000000", "14400000000"}}}});
    EXPECT_TRUE(has(page, "width:25.00%")) << "one hour of four";
    EXPECT_TRUE(has(page, "<tr class=\"sum\"><td>all</td><td class=\"n\">5000</td><td class=\"n\">2d</td><td class=\"n\">4h</td>"
                          "<td class=\"n\">8.33%</td>"));
    EXPECT_FALSE(has(page, "<th>all")) << "these figures have no columns of their own";
    EXPECT_TRUE(has(
        page,
        "The table shows only the first 1 of 1001 lines. The line \"all\" also counts the lines that the table does not show."));
}

TEST(HtmlSiteReport, saysWhichTablesAreCut) {
    const auto page = pageOf(site());
    EXPECT_TRUE(has(page, "first 2 of 123 lines. The line \"all\" also counts"));
    EXPECT_TRUE(has(page, "first 1 of 77 lines.</p>")) << "a list of jobs has no sums";
    std::size_t notices = 0;
    for (auto at = page.find("only the first"); at != std::string::npos; at = page.find("only the first", at + 1))
        ++notices;
    EXPECT_EQ(notices, 2U);
}

TEST(HtmlSiteReport, saysWhetherTheArchiveIsComplete) {
    const std::vector<std::string> columns{"nodes", "complete_nodes", "missing_receipts"};
    EXPECT_TRUE(has(pageOf(site()), "may lack receipts of 2 nodes out of 2000."));
    EXPECT_TRUE(has(pageOf(site()), "3 receipts will never be in the archive."));
    const auto complete = pageOf({{"completeness", columns, {{"5", "5", "0"}}}});
    EXPECT_TRUE(has(complete, "The archive has all receipts that the nodes have."));
    EXPECT_FALSE(has(complete, "never"));
}

TEST(HtmlSiteReport, anUnknownValueIsNotZeroAndAMissingTableHasNoSection) {
    const auto page =
        pageOf({{"cpu_by_user", {"user", "jobs", "cpu_asked_us", "cpu_used_us"}, {{"bob", "1", std::nullopt, std::nullopt}}}});
    EXPECT_TRUE(
        has(page, "<td>bob</td><td class=\"n\">1</td><td class=\"n\">-</td><td class=\"n\">-</td><td class=\"n\">-</td>"));
    EXPECT_FALSE(has(page, "Memory by user"));
}

TEST(HtmlSiteReport, aTableOfALaterVersionIsShownAtTheEnd) {
    const auto page = pageOf({{"gpus_by_user", {"user", "gpu_us"}, {{"alice", kHour}}}, {"end_causes", {"cause", "jobs"}, {}}});
    EXPECT_LT(page.find("How the jobs ended</h2>\n<p>The table is empty."), page.find("<h2>gpus_by_user</h2>"));
    EXPECT_TRUE(has(page, "<td>alice</td><td class=\"n\">1h</td>"));
}

TEST(HtmlSiteReport, noTextBecomesMarkup) {
    auto tables = site();
    for (auto& table : tables)
        for (auto& row : table.rows)
            for (auto& value : row)
                value = std::string("\x1b]0;\x07</table></body>") + kEvil;
    tables.push_back({kEvil, {kEvil, std::string(kEvil) + "_us"}, {{kEvil, kEvil}}});
    const auto page = pageOf(tables);
    expectHarmless(page);
    EXPECT_TRUE(has(page, "&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;&lt;script&gt;"));
    EXPECT_EQ(page.find('\x1b'), std::string::npos);
    EXPECT_EQ(page.find("</body>"), page.rfind("</body>"));
}

TEST(HtmlSiteReport, oddTablesAreShownAsFarAsTheyGo) {
    const std::vector<std::string> columns{"user", "jobs", "cpu_asked_us", "cpu_used_us"};
    const auto page =
        pageOf({{"totals", {}, {}},
                {"completeness", {"nodes"}, {{"-1"}}},
                {"cpu_by_user", columns, {{}, {"short"}, {"bob", "nan", "1e300", "-5"}, {"eve", "x", "inf", "12", "more"}}}});
    expectHarmless(page);
    EXPECT_TRUE(has(page, "<td>short</td>"));
    EXPECT_TRUE(has(page, "<td class=\"n\">nan</td>"));
    EXPECT_FALSE(has(page, "infinity")) << "a number that is too large is not the value for \"no limit\"";
}

TEST(HtmlSiteReport, aTableHasAtMostAThousandLines) {
    ReportTable table{"end_causes", {"cause", "jobs"}, {}};
    for (int i = 0; i < 1001; ++i)
        table.rows.push_back({"cause" + std::to_string(i), "1"});
    const auto page = pageOf({table});
    EXPECT_TRUE(has(page, "<td>cause999</td>"));
    EXPECT_FALSE(has(page, "<td>cause1000</td>"));
    EXPECT_TRUE(has(page, "The table shows only the first 1000 of 1001 lines."));
}

} // namespace
} // namespace pinfold
