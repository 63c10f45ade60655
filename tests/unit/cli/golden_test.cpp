// SPDX-License-Identifier: LGPL-2.1-or-later
// Compares each --json output with a file in golden/. Compares each table and page with a file in golden/, as a terminal of 80
// columns shows the table or page. A further file shows the page of `pinfold top` on a wide terminal. PINFOLD_WRITE_GOLDEN=1
// writes the files again, and git diff then shows how a change affects the output.
#include "golden_samples.hpp"
#include "time_zone.hpp"

#include "build_config.hpp"
#include "cli/doctor_page.hpp"
#include "cli/event_line.hpp"
#include "cli/host_table.hpp"
#include "cli/idle_table.hpp"
#include "cli/job_page.hpp"
#include "cli/job_properties.hpp"
#include "cli/journal_lines.hpp"
#include "cli/leftover_table.hpp"
#include "cli/limit_text.hpp"
#include "cli/list_table.hpp"
#include "cli/node_page.hpp"
#include "cli/receipt_table.hpp"
#include "cli/textfile.hpp"
#include "cli/top_text.hpp"
#include "wording/hosts_text.hpp"
#include "wording/profile_text.hpp"
#include "wording/receipt_text.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

namespace pinfold {
namespace {

constexpr const char* kDirectory = PINFOLD_GOLDEN;
constexpr std::size_t kWidth = 80;
constexpr std::size_t kWideWidth = 200;
const TableStyle kStyle{.legend = true, .width = kWidth, .pairs = false, .now = golden::kNow};
const Terminal kTerminal{TerminalOptions{.color = ColorMode::Never}};

struct Golden {
    std::string name;
    std::string text;
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

std::string versions() {
    auto text = jsonVersions("1.2.3");
    const std::string version = PINFOLD_VERSION;
    return text.replace(text.find(version), version.size(), "VERSION");
}

std::string linesOf(const Properties& properties) {
    std::string lines;
    for (const auto& [name, value] : properties)
        lines += name + "=" + value + "\n";
    return lines;
}

StartRequest units() {
    return {.scope = "job-sge.4711.scope",
            .scopeProperties = {{"Description", std::string("pinfold job sge.4711")}, {"PIDs", std::vector<std::uint32_t>{4711}}},
            .slice = "batch-sge.4711.slice",
            .sliceProperties = {{"MemoryMax", std::uint64_t{1} << 30}, {"CPUAccounting", true}}};
}

/// Returns the texts that pinfold never cuts to the terminal's width.
std::vector<Golden> documents() {
    const auto jobs = golden::jobs();
    const auto receipts = golden::receipts();
    const auto change = golden::limits();
    LoadedConfig config;
    config.files = {"/etc/pinfold/pinfold.toml"};
    config.warnings = {"/etc/pinfold/pinfold.toml:3:1: unknown key 'jobs.summry'"};
    Reconciliation found;
    found.unitsStopped = {"job-sge.1.scope"};
    found.cgroupsLeft = {"/batch.slice/batch-sge.2.slice"};
    return {{"list.json", jsonJobs(golden::details())},
            {"status.json", jsonNode(golden::node())},
            {"status-job.json", jsonJob(golden::detail())},
            {"limits.json", jsonLimits("sge.4711", golden::limits(), {.notEnforced = {"tasks_max"}})},
            {"limits-of-systemd.json", jsonLimits("sge.4711", {}, {.systemdTasksMax = 4915})},
            {"ps.json", jsonProcesses(golden::processes())},
            {"top.json", jsonTop(golden::topRows(), golden::kNow)},
            {"history.json", jsonReceipts(receipts)},
            {"history-line.json", jsonReceiptLine(receipts[1])},
            {"why.json", jsonReceipt(receipts.front())},
            {"why-hosts.json", jsonHosts(golden::hosts())},
            {"why-live.json", jsonNotOver("sge.4711")},
            {"plot.json", jsonProfile("sge.4711", golden::profile())},
            {"plot-hosts.json", jsonProfiles("slurm.7", {HostProfile{"node1", golden::kNow, golden::profile()},
                                                         HostProfile{"node2", golden::kNow, {}}})},
            {"reconcile.json", jsonReconciliation(found)},
            {"vacuum-dry-run.json", jsonVacuumed({.removed = 3, .bytes = 4096}, true)},
            {"vacuum.json", jsonVacuumed({.removed = 3, .bytes = 4096}, false)},
            {"check-config.json", jsonConfigCheck(config)},
            {"check-config-wrong.json",
             jsonConfigCheck(Error{ErrorCode::ConfigInvalid, "/etc/pinfold/pinfold.toml:3:1: expected ']'"})},
            {"run-dry-run.json", jsonUnits(units())},
            {"doctor.json", jsonFindings(golden::findings())},
            {"version.json", versions()},
            {"idle.json", jsonIdle(golden::idle())},
            {"strays.json", jsonStrays(golden::strays())},
            {"strays-files.json", jsonLeftoverFiles(golden::leftovers())},
            {"status-jobs.json", jsonNode({.version = "1.2.3", .jobs = jobs}, std::vector{golden::detail()})},
            {"config.json", jsonConfigValues({{"jobs", "summary", "\"on-failure\"", "/etc/pinfold/pinfold.toml", 3}})},
            {"archive-status.json", jsonArchiveStatus(golden::archive())},
            {"event.json", jsonEvent({.name = "job-removed", .job = "sge.4711", .result = "exited"}, golden::kNow)},
            {"event.txt", eventLine({.name = "job-removed", .job = "sge.4711", .result = "exited"}, golden::kNow)},
            {"logs.jsonl", jsonJournalEntry(golden::journalEntry())},
            {"logs.txt", journalLine(golden::journalEntry(), kTerminal)},
            {"open.json", jsonOpened("sge.4711", "batch-sge.4711.slice", {{"OMP_NUM_THREADS", "2"}})},
            {"limits-change.txt", changeLines(change, ResourceLimits{.memoryMax = 2ULL << 30, .tasksMax = 100}, change, {})},
            {"adopt.json", jsonTask("sge.4711", 2, "job-sge.4711-2.scope")},
            {"dry-run.json", jsonDryRun("sge.4711", {"send SIGUSR1 to all processes of batch-sge.4711.slice"})},
            {"doctor.prom", findingMetrics(golden::findings())},
            {"strays.prom", strayMetrics(golden::strays().rows)},
            {"dry-run-node.json", jsonDryRun(std::nullopt, {"let the node take jobs again"})}};
}

/// Returns the page of `pinfold top` on a terminal of 24 lines. The user is allowed to read only the profile of the first job.
std::string topPage(std::size_t width) {
    TopHistories histories([](const std::string& key) {
        return key == golden::jobs().front().key ? Result<Profile>(golden::profile())
                                                 : Result<Profile>(Error{ErrorCode::Denied, ""});
    });
    return topText(golden::topRows(), golden::kNow, {}, {.sort = "cpu", .amounts = {}, .width = width, .height = 24},
                   [&histories](const TopRow& row) { return histories.of(row, MonotonicTime(1s)); });
}

std::string listOf(const std::vector<std::string>& columns) {
    return listTable(listColumns(columns, {}, kStyle), golden::details(), kStyle);
}

std::vector<Receipt> receiptsOf(const HostsOfJob& job) {
    std::vector<Receipt> receipts;
    for (const auto& host : job.hosts)
        receipts.insert(receipts.end(), host.receipts.begin(), host.receipts.end());
    return receipts;
}

/// Returns what a user sees of another user's job, which has no batch script.
JobDetail jobOfOthers() {
    JobDetail detail{.job = golden::jobs()[1], .limits = golden::limits()};
    detail.job.leader.reset();
    detail.job.unkillableSince = golden::kNow;
    detail.job.unkillableInFuse = true;
    detail.usageDenied = true;
    return detail;
}

std::vector<Golden> goldenTables() {
    useTimeZone("UTC0");
    const auto receipts = golden::receipts();
    return {
        {"list.txt", listOf({})},
        {"list-all-columns.txt", listOf({"key", "user", "uid", "state", "tasks", "age", "leader", "created", "slice", "unit"})},
        {"list-use.txt",
         listOf({"key", "memory_need", "memory_in_use", "memory_max", "cpu_time", "allocated_cpus", "allocated_gpus"})},
        {"list-identity.txt", listOf({"key", "slots", "job_name", "account", "queue", "array_task", "nodes", "labels"})},
        {"status.txt", nodePage(golden::node(), kTerminal, {}, kStyle)},
        {"status-without-figures.txt",
         nodePage({.version = "1.2.3", .jobs = {}, .lastErrors = std::vector<DaemonMessage>{}}, kTerminal, {}, kStyle)},
        {"status-job.txt", jobPage(golden::detail(), kTerminal, {}, kStyle)},
        {"status-job-of-others.txt", jobPage(jobOfOthers(), kTerminal, {}, kStyle)},
        {"limits.txt", limitsTable(golden::limits(), {.notEnforced = {"tasks_max", "io_read_bandwidth_max"}}, {}, kStyle)},
        {"limits-of-systemd.txt", limitsTable({.memoryMax = 1 << 30}, {.systemdTasksMax = 4915}, {}, kStyle)},
        {"ps.txt", processTable(golden::processes(), {}, kStyle)},
        {"top.txt", topPage(kWidth)},
        {"history.txt", receiptTable(receipts, {}, kStyle)},
        {"history-short-keys.txt", receiptTable({receipts.front()}, {}, kStyle)},
        {"history-hosts.txt", receiptTable(receiptsOf(golden::hosts()), {}, kStyle)},
        {"why-hosts.txt", hostsPage(golden::hosts(), userName, {}, kWidth)},
        {"why-hosts-table.txt", hostTable(golden::hosts(), {}, kStyle)},
        {"why-hosts-table-one.txt", hostTable(hostsOfJob({receipts.front()}), {}, kStyle)},
        {"why.txt", receiptPage(receipts.front(), userName, {}, kWidth)},
        {"why-oom.txt", receiptPage(receipts[1], userName, {}, kWidth)},
        {"why-over-time.txt", profileLines(golden::profile(), {})},
        {"plot.txt", profileCharts(golden::profile(), chartLimits(golden::limits(), std::nullopt), {}, kWidth)},
        {"doctor.txt", doctorPage(golden::findings(), kTerminal, kWidth) + countsLine(golden::findings())},
        {"doctor-problems.txt", doctorPage(problemsOf(golden::findings()), kTerminal, kWidth) + countsLine(golden::findings())},
        {"archive-status.txt", archiveStatusPage(golden::archive(), kStyle)},
        {"idle.txt", idleTable(golden::idle().jobs, {}, kStyle)},
        {"strays.txt", strayTable(golden::strays().rows, {}, kStyle)},
        {"strays-files.txt", leftoverTable(golden::leftovers(), LeftoverAction::List, {}, kStyle)}};
}

class GoldenFile : public testing::TestWithParam<Golden> {};

TEST_P(GoldenFile, isWhatPeopleSee) {
    const auto path = std::filesystem::path(kDirectory) / GetParam().name;
    if (std::getenv("PINFOLD_WRITE_GOLDEN"))
        std::ofstream(path) << GetParam().text;
    std::ostringstream expected;
    expected << std::ifstream(path).rdbuf();
    EXPECT_EQ(GetParam().text, expected.str()) << "PINFOLD_WRITE_GOLDEN=1 writes " << path << " anew";
}

std::vector<Golden> all() {
    std::setlocale(LC_CTYPE, "C.UTF-8");
    auto all = documents();
    for (auto& table : goldenTables())
        all.push_back(std::move(table));
    all.push_back({"top-wide.txt", topPage(kWideWidth)});
    all.push_back({"show.txt", linesOf(propertiesOf(golden::detail(), "alice"))}); // lines for scripts can have any length
    all.push_back({"show-ended.txt", linesOf(propertiesOf(golden::receipts().front(), "alice"))});
    all.push_back({"show-ended-oom.txt", linesOf(propertiesOf(golden::receipts()[1], "alice"))});
    return all;
}

std::string nameOf(const testing::TestParamInfo<Golden>& golden) {
    auto name = golden.param.name;
    for (auto& c : name)
        c = c == '.' || c == '-' ? '_' : c;
    return name;
}

INSTANTIATE_TEST_SUITE_P(Each, GoldenFile, testing::ValuesIn(all()), nameOf);

TEST(GoldenFiles, areAllOfTheTests) {
    std::set<std::string> wanted;
    for (const auto& golden : all())
        wanted.insert(golden.name);
    for (const auto& file : std::filesystem::directory_iterator(kDirectory))
        EXPECT_TRUE(wanted.contains(file.path().filename())) << file.path() << " belongs to no test";
}

/// Most lines begin with names that pinfold chooses. A word that a user has chosen can be wider than a page, but must not be
/// wider than a table.
TEST(GoldenFiles, fitEightyColumns) {
    for (const auto& [name, text] : goldenTables()) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);)
            EXPECT_LE(displayWidth(line), kWidth) << name << ": " << line;
    }
}

TEST(ReceiptTable, showsNoPageCacheAsMemory) {
    auto receipt = golden::receipts().front();
    receipt.usage.memoryNeed.reset();
    receipt.usage.memoryPeak = 4321ULL << 20;
    const auto pairs = receiptTable({receipt}, {}, {.legend = true, .width = 0, .pairs = true, .now = golden::kNow});
    EXPECT_NE(pairs.find("MEMORY_NEED=\"-\""), std::string::npos) << pairs;
}

TEST(GoldenFiles, areNotCutWhenPiped) {
    useTimeZone("UTC0");
    const TableStyle piped{.legend = true, .width = 0, .pairs = false, .now = golden::kNow};
    const auto command = golden::processes()[1].command;
    EXPECT_NE(processTable(golden::processes(), {}, piped).find(command), std::string::npos);
    EXPECT_NE(strayTable(golden::strays().rows, {}, piped).find(golden::strays().rows[1].unit), std::string::npos);
    EXPECT_NE(receiptTable(golden::receipts(), {}, piped).find("LEFTOVERS"), std::string::npos);
    EXPECT_NE(receiptTable(golden::receipts(), {}, piped).find("2023-11-14T21:13:20Z"), std::string::npos);
    EXPECT_NE(doctorPage(golden::findings(), kTerminal, 0).find(golden::findings()[1].remedy + "\n"), std::string::npos);
}

} // namespace
} // namespace pinfold
