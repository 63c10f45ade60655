// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/event_line.hpp"
#include "cli/format.hpp"
#include "cli/json.hpp"
#include "cli/limit_text.hpp"
#include "cli/list_table.hpp"
#include "cli/output.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/time_out.hpp"
#include "options/words.hpp"
#include "time_zone.hpp"
#include "wording/amounts.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <clocale>
#include <sstream>

namespace pinfold {
namespace {

Receipt sampleReceipt() {
    Receipt receipt;
    receipt.key = "sge.4711";
    receipt.started = RealTime(1'700'000'000s);
    receipt.ended = receipt.started + 10s;
    receipt.exit.status = 3;
    return receipt;
}

TEST(Table, numbersToTheRightAndNothingCutWhenPiped) {
    const std::string wide(200, 'x');
    EXPECT_EQ(formatTable({{"key"}, {"tasks", true}, {"unit"}}, {{"a", "7", wide}, {"bcd", "1234567", "u"}}, {}),
              "KEY    TASKS  UNIT\na          7  " + wide + "\nbcd  1234567  u\n");
}

std::vector<std::string> narrowed(std::size_t width) {
    const std::vector<Column> columns{{.name = "key", .least = 4},
                                      {.name = "user", .leaves = 1},
                                      {.name = "cpu", .number = true, .leaves = 2},
                                      {.name = "command", .least = 5}};
    const auto table = formatTable(columns, {{"a", "bob", "1", "0123456789"}, {"abcdef", "eve", "22", "x"}}, {.width = width});
    std::vector<std::string> lines;
    std::istringstream text(table);
    for (std::string line; std::getline(text, line);)
        lines.push_back(line);
    return lines;
}

TEST(Table, onATerminalItFits) {
    std::setlocale(LC_CTYPE, "C.UTF-8");
    using Lines = std::vector<std::string>;
    EXPECT_EQ(narrowed(29), (Lines{"KEY     USER  CPU  COMMAND", "a       bob     1  0123456789", "abcdef  eve    22  x"}));
    EXPECT_EQ(narrowed(26), (Lines{"KEY     USER  CPU  COMMAND", "a       bob     1  012345…", "abcdef  eve    22  x"}))
        << "the widest is cut first";
    EXPECT_EQ(narrowed(23), (Lines{"KEY    USER  CPU  COMM…", "a      bob     1  0123…", "abcd…  eve    22  x"}))
        << "and each column may be";
    EXPECT_EQ(narrowed(21), (Lines{"KEY     USER  COMMAND", "a       bob   012345…", "abcdef  eve   x"})) << "then one leaves";
    EXPECT_EQ(narrowed(12), (Lines{"KEY    COMM…", "a      0123…", "abcd…  x"}));
    EXPECT_EQ(narrowed(6), (Lines{"KEY  …", "a    …", "abc… …"})) << "what cannot fit is cut as a line";
    EXPECT_EQ(formatTable({{"key"}, {"command"}}, {{"漢", "x"}, {"a", "y"}}, {.legend = false}), "漢  x\na   y\n");
}

TEST(Table, aShortTimeIsForTerminals) {
    constexpr RealTime now(1'700'000'000s);
    useTimeZone("UTC0");
    EXPECT_EQ(tableTime(now, {.width = 80, .now = now}), "11-14 22:13");
    EXPECT_EQ(tableTime(now - 200 * 24h, {.width = 80, .now = now}), "2023-04-28");
    EXPECT_EQ(tableTime(now, {.now = now}), "2023-11-14T22:13:20Z");
    useTimeZone(kBerlin);
    EXPECT_EQ(tableTime(now, {.width = 80, .now = now}), "11-14 23:13");
    EXPECT_EQ(tableTime(now - 200 * 24h, {.width = 80, .now = now}), "2023-04-29") << "it is after midnight there";
    EXPECT_EQ(tableTime(now, {.now = now}), "2023-11-14T23:13:20+01:00");
}

TEST(Table, pairsAreForScripts) {
    const TableStyle pairs{.width = 5, .pairs = true};
    const std::vector<Column> columns{{.name = "key"}, {.name = "cpu_percent", .number = true, .heading = "cpu%"}};
    EXPECT_EQ(formatTable(columns, {{"a", "1"}, {"b c", ""}}, pairs),
              "KEY=\"a\" CPU_PERCENT=\"1\"\nKEY=\"b c\" CPU_PERCENT=\"\"\n");
    EXPECT_EQ(formatTable(columns, {{"a", "1"}}, {}), "KEY  CPU%\na       1\n");
    EXPECT_EQ(formatTable({{"name"}}, {{"\" $(reboot) `reboot` \\x0a"}}, pairs),
              "NAME=\"\\x22 \\x24(reboot) \\x60reboot\\x60 \\x5cx0a\"\n")
        << "a name must not leave its quotes";
    EXPECT_EQ(formatTable({{"name"}}, {}, pairs), "");
}

TEST(Table, withoutRowsThereIsTheHeader) {
    EXPECT_EQ(formatTable({{"key"}, {"n", true}}, {}, {}), "KEY  N\n");
    EXPECT_EQ(formatTable({{"key"}, {"n", true}}, {}, {.legend = false}), "");
}

TEST(Table, whatIsEscapedIsNotEscapedAgain) {
    EXPECT_EQ(formatTable({{"key"}, {"name"}}, {{"\\x1b", "a\\\\x0a"}, {"b", ""}}, {.legend = false}),
              "\\x1b  a\\\\x0a\nb     \n");
}

/// Prints `text` with the pager `pager`, and returns the output that a terminal gets.
std::string shown(const std::string& text, const char* pager) {
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, nullptr);
    if (child == 0) {
        ::setenv("PINFOLD_PAGER", pager, 1);
        Terminal(TerminalOptions{}).print(text);
        ::_exit(0);
    }
    std::string out;
    char buffer[4096];
    for (ssize_t got = 0; (got = ::read(terminal, buffer, sizeof buffer)) > 0;)
        out.append(buffer, static_cast<std::size_t>(got));
    ::close(terminal);
    ::waitpid(child, nullptr, 0);
    return out;
}

TEST(Terminal, whatNoPagerHasReadIsPrinted) {
    EXPECT_NE(shown("the receipt\n", "/nonexistent/pager").find("the receipt\r\n"), std::string::npos);
    EXPECT_EQ(shown("the receipt\n", "sed s/the/one/"), "one receipt\r\n");
    EXPECT_EQ(shown("the receipt\n", "true"), "") << "who leaves the pager has seen enough";
    EXPECT_EQ(shown("the receipt\n", "cat"), "the receipt\r\n");
}

TEST(Json, hasASchemaAndNullForTheUnknown) {
    const auto document = nlohmann::json::parse(jsonReceipts({sampleReceipt()}));
    EXPECT_EQ(document["schema"], 1);
    const auto& receipt = document["receipts"][0];
    EXPECT_EQ(receipt["exit_status"], 3);
    EXPECT_TRUE(receipt["exit_signal"].is_null());
    EXPECT_TRUE(receipt["io_read"].is_null());
    EXPECT_EQ(receipt["ended_iso"], "2023-11-14T22:13:30Z");
}

TEST(Json, aVacuumsOutcome) {
    for (const bool dryRun : {false, true}) {
        const auto document = nlohmann::json::parse(jsonVacuumed({.removed = 3, .bytes = 4096}, dryRun));
        EXPECT_EQ(document["removed"], 3);
        EXPECT_EQ(document["bytes"], 4096);
        EXPECT_EQ(document["dry_run"], dryRun);
    }
}

nlohmann::json nodeDrainedBy(Drain drain) {
    return nlohmann::json::parse(jsonNode({.version = "1.2.3", .jobs = {}, .drain = std::move(drain)}));
}

TEST(Json, aDrain) {
    const auto none = nlohmann::json::parse(jsonNode({.version = "1.2.3", .jobs = {}}));
    EXPECT_FALSE(none["draining"]);
    EXPECT_TRUE(none["drain"].is_null());
    const auto drained = nodeDrainedBy(Drain{.reason = "new disk", .since = RealTime(1'700'000'010s), .by = 0});
    EXPECT_TRUE(drained["draining"]);
    EXPECT_EQ(drained["drain"], nlohmann::json({{"reason", "new disk"},
                                                {"since", 1'700'000'010'000'000},
                                                {"since_iso", "2023-11-14T22:13:30Z"},
                                                {"by_uid", 0},
                                                {"by", "root"}}));
    const auto itself = nodeDrainedBy(Drain{.reason = "job", .since = {}, .by = {}});
    EXPECT_TRUE(itself["draining"] && itself["drain"]["by"].is_null() && itself["drain"]["since_iso"].is_null());
}

TEST(Suggestion, onlyWhatIsNear) {
    EXPECT_EQ(suggestion("hsitory", {"list", "history"}), ", did you mean 'history'?");
    EXPECT_EQ(suggestion("zzz", {"list", "history"}), "");
}

TEST(Format, pointsInTime) {
    constexpr RealTime now(1'700'000'000s); // 2023-11-14T22:13:20Z
    useTimeZone("UTC0");
    EXPECT_EQ(*parseWhen("now", now), now);
    EXPECT_EQ(*parseWhen("-1h", now), now - 1h);
    EXPECT_EQ(*parseWhen("-1:30:00", now), now - 90min);
    EXPECT_EQ(*parseWhen("today", now), RealTime(1'699'920'000s));
    EXPECT_EQ(*parseWhen("2023-11-14 22:13", now), RealTime(1'699'999'980s));
    for (const char* text : {"tomorrow-ish", "1969-12-31", "2023-11-14T22:13:20+01:00 or so", "2023-11-14T22:13:20+"})
        EXPECT_FALSE(parseWhen(text, now)) << text;
}

TEST(Format, pointsInLocalTime) {
    constexpr RealTime now(1'700'000'000s); // 2023-11-14T22:13:20Z
    useTimeZone(kBerlin);
    EXPECT_EQ(*parseWhen("today", now), RealTime(1'699'916'400s));
    EXPECT_EQ(*parseWhen("2023-11-14 23:13", now), RealTime(1'699'999'980s));
    EXPECT_EQ(*parseWhen("2023-07-01 02:00", now), RealTime(1'688'169'600s)) << "summer time";
    for (const char* text :
         {"2023-11-14T22:13:20Z", "2023-11-14T23:13:20", "2023-11-14T23:13:20+01:00", "2023-11-14T16:43:20-05:30"})
        EXPECT_EQ(*parseWhen(text, now), now) << text;
    for (const RealTime time : {RealTime(), now, RealTime(1'688'169'600s)})
        EXPECT_EQ(*parseWhen(formatLocal(time), now), time) << formatLocal(time);
}

TEST(Format, timesOfPeopleHaveTheirZone) {
    constexpr RealTime winter(1'700'000'000s);
    constexpr RealTime summer(1'688'169'600s);
    useTimeZone(kBerlin);
    EXPECT_EQ(formatLocal(winter), "2023-11-14T23:13:20+01:00");
    EXPECT_EQ(formatLocal(summer), "2023-07-01T02:00:00+02:00");
    EXPECT_EQ((Amounts{}).time(winter), "2023-11-14T22:13:20Z") << "texts of pinfoldd are in UTC";
    useTimeZone("NST3:30");
    EXPECT_EQ(formatLocal(winter), "2023-11-14T18:43:20-03:30");
    useTimeZone("UTC0");
    EXPECT_EQ(formatLocal(winter), "2023-11-14T22:13:20Z");
}

TEST(Format, runTimesAreAsSlurmPrintsThem) {
    const Amounts amounts;
    EXPECT_EQ(amounts.runTime(90min), "1:30:00");
    EXPECT_EQ(amounts.runTime(7'999'999us), "0:00:07");
    EXPECT_EQ(amounts.runTime(24h - 1s), "23:59:59");
    EXPECT_EQ(amounts.runTime(54h), "2-06:00:00");
    EXPECT_EQ(amounts.runTime(250ms), "250ms");
    EXPECT_EQ(amounts.runTime(0s), "0");
    EXPECT_EQ(amounts.runTime(std::nullopt), "-");
    EXPECT_EQ(amounts.runTime(kForever), "infinity");
    EXPECT_EQ((Amounts{.raw = true}).runTime(90min), "5400000000");
    for (const Microseconds time : {Microseconds(1s), Microseconds(90min), Microseconds(240h + 59s)})
        EXPECT_EQ(*parseDuration(amounts.runTime(time)), time);
}

TEST(OutputOptions, utcIsTheTimeZone) {
    useTimeZone(kBerlin);
    OutputOptions output;
    const auto options = outputOptions(output);
    ASSERT_TRUE(apply(*findOption(options, "--utc"), ""));
    EXPECT_EQ(formatLocal(RealTime(1'700'000'000s)), "2023-11-14T22:13:20Z");
}

TEST(Format, amountsForPeopleAndForScripts) {
    EXPECT_EQ(Amounts{}.size(1536), "1.5K");
    EXPECT_EQ(Amounts{true}.size(1536), "1536");
    EXPECT_EQ(Amounts{}.size(std::nullopt), "-");
    EXPECT_EQ(Amounts{}.quota(1'500'000), "150%");
}

TEST(Json, aReceiptHasTheLineThatTheJobReads) {
    Receipt receipt;
    receipt.key = "pbs.1";
    const auto line = [&receipt](const char* name) { return nlohmann::json::parse(jsonReceipt(receipt))["receipt"][name]; };
    EXPECT_TRUE(line("oom_line").is_null());
    EXPECT_TRUE(line("stop_line").is_null());
    receipt.result = JobResult::Stopped;
    receipt.stoppedBy = 1000;
    receipt.origin.host = "node7";
    EXPECT_EQ(
        line("stop_line").get<std::string>().find("pinfold: job pbs.1 on node7 was stopped on request of user 1000. It ran"), 0U);
    receipt.result = JobResult::OutOfMemory;
    receipt.oom.emplace();
    receipt.oom->victim = 77;
    receipt.oom->victimName = "hog";
    EXPECT_EQ(line("oom_line"), "Cgroup memory limit exceeded: Killed process 77 (hog)");
    EXPECT_TRUE(line("stop_line").is_null());
}

TEST(TimeOut, saysWhatIsLeft) {
    EXPECT_EQ(stillThere("sge.1", ShownState::Ending, 1, 300ms), "job sge.1 is still ending after 300ms: 1 process is left");
    EXPECT_EQ(stillThere("sge.1", ShownState::Ending, 2, 1s), "job sge.1 is still ending after 1s: 2 processes are left");
    EXPECT_EQ(stillThere("sge.1", ShownState::Running, {}, 1s), "job sge.1 is still running after 1s");
}

TEST(Limits, aChangeIsSaidInALineForEach) {
    const ResourceLimits change{.memoryMax = 1ULL << 30, .tasksMax = 50};
    const ResourceLimits before{.memoryMax = kInfinity, .cpuWeight = 7};
    EXPECT_EQ(changeLines(change, before, withDefaults(change, before), {}), "memory_max: infinity -> 1G\ntasks_max: - -> 50\n");
}

TEST(Limits, whatHasNoEffectIsWarnedOf) {
    const ResourceLimits change{.memoryMax = 1ULL << 30, .memoryZswapMax = 0, .tasksMax = 50};
    ResourceLimits after = change;
    after.memoryZswapMax.reset(); // the systemd of this node does not know memory_zswap_max
    const auto warnings = enforcementWarnings(change, after, {"tasks_max", "io_weight"});
    EXPECT_EQ(warnings, "pinfold: warning: memory_zswap_max is not enforced on this node: its systemd is too old\n"
                        "pinfold: warning: tasks_max is not enforced on this node: the kernel did not accept the value; `pinfold "
                        "doctor` says whether the cgroup controller pids is missing\n");
    EXPECT_EQ(enforcementWarnings(change, change, {}), "");
}

TEST(Json, aLiveJobHasTheEnvironmentForItsPrograms) {
    JobDetail detail;
    detail.allocation.environment = {{"CUDA_VISIBLE_DEVICES", "0,1"}};
    EXPECT_EQ(nlohmann::json::parse(jsonJob(detail))["job"]["environment"]["CUDA_VISIBLE_DEVICES"], "0,1");
}

TEST(EventLine, isForPeopleAndForPrograms) {
    const Event event{.name = "leftovers-found", .job = "sge.1", .task = 0, .count = 3};
    EXPECT_EQ(eventLine(event, RealTime(1'700'000'010s)), "2023-11-14T22:13:30Z leftovers-found sge.1 task=0 count=3\n");
    const auto text = jsonEvent(event, RealTime(1'700'000'010s));
    EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
    EXPECT_EQ(nlohmann::json::parse(text), nlohmann::json({{"schema", 1},
                                                           {"time", 1'700'000'010'000'000},
                                                           {"time_iso", "2023-11-14T22:13:30Z"},
                                                           {"event", "leftovers-found"},
                                                           {"job", "sge.1"},
                                                           {"task", 0},
                                                           {"count", 3},
                                                           {"result", nullptr},
                                                           {"oom_cause", nullptr},
                                                           {"limit", nullptr},
                                                           {"reason", nullptr}}));
    EXPECT_EQ(eventLine({.name = "drained", .reason = "new disk"}, RealTime()), "1970-01-01T00:00:00Z drained reason=new disk\n");
}

} // namespace
} // namespace pinfold
