// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "cli/command_line.hpp"
#include "cli/event_line.hpp"
#include "cli/format.hpp"
#include "cli/json.hpp"
#include "cli/limit_text.hpp"
#include "cli/list_table.hpp"
#include "cli/suggestion.hpp"
#include "cli/table.hpp"
#include "cli/terminal.hpp"
#include "cli/time_out.hpp"
#include "cli/verbs.hpp"
#include "text/amounts.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <clocale>
#include <sstream>

namespace pinfold {
namespace {

std::variant<CommandLine, EarlyExit> parse(std::vector<std::string> words) {
    words.insert(words.begin(), "pinfold");
    std::vector<char*> argv;
    for (auto& word : words)
        argv.push_back(word.data());
    argv.push_back(nullptr);
    return parseCommandLine(static_cast<int>(words.size()), argv.data());
}

Receipt sample() {
    Receipt receipt;
    receipt.key = "sge.4711";
    receipt.started = 1'700'000'000'000'000;
    receipt.ended = receipt.started + 10'000'000;
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
    constexpr std::uint64_t now = 1'700'000'000'000'000;
    EXPECT_EQ(tableTime(now, {.width = 80, .now = now}), "11-14 22:13");
    EXPECT_EQ(tableTime(now - 200ULL * 86'400'000'000, {.width = 80, .now = now}), "2023-04-28");
    EXPECT_EQ(tableTime(now, {.now = now}), "2023-11-14T22:13:20Z");
}

TEST(Table, parsableHasNothingButTheFields) {
    EXPECT_EQ(formatTable({{"key"}, {"n", true}}, {{"a", "1"}}, {.legend = true, .width = 0, .parsable = true}), "KEY|N\na|1\n");
    EXPECT_EQ(formatTable({{"key"}, {"name"}}, {{"a", "x|root|0"}}, {.legend = false, .width = 0, .parsable = true}),
              "a|x\\x7croot\\x7c0\n");
}

TEST(Run, dryRunIsAnOptionOnlyBeforeTheCommand) {
    const auto words = [](std::vector<std::string> line) {
        std::vector<char*> argv;
        for (auto& word : line)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        return wordsOfDryRun(static_cast<int>(line.size()), argv.data());
    };
    EXPECT_EQ(words({"pinfold", "run", "make", "--dry-run"}), std::nullopt);
    EXPECT_EQ(words({"pinfold", "run", "--", "make", "--dry-run"}), std::nullopt);
    EXPECT_EQ(words({"pinfold", "run", "--job", "--dry-run", "make"}), std::nullopt);
    EXPECT_EQ(words({"pinfold", "run", "--exec", "make", "--dry-run"}), std::nullopt);
    EXPECT_EQ(words({"pinfold", "run", "-j", "a.1", "--memory-max=1G", "--dry-run", "make", "-j4"}), 6);
    EXPECT_EQ(words({"pinfold", "run", "--tasks-max", "7", "--json", "--dry-run", "--", "make"}), 6);
    EXPECT_EQ(words({"pinfold", "run", "--dry-run", "--job"}), 4);
}

/// What a terminal shows of `text`, printed with that pager.
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
    const auto document = nlohmann::json::parse(jsonReceipts({sample()}));
    EXPECT_EQ(document["schema"], 1);
    const auto& receipt = document["receipts"][0];
    EXPECT_EQ(receipt["exit_status"], 3);
    EXPECT_TRUE(receipt["exit_signal"].is_null());
    EXPECT_TRUE(receipt["io_read"].is_null());
    EXPECT_EQ(receipt["ended_iso"], "2023-11-14T22:13:30Z");
}

TEST(Json, aVacuumsOutcome) {
    const auto document = nlohmann::json::parse(jsonVacuumed({.removed = 3, .bytes = 4096}));
    EXPECT_EQ(document["removed"], 3);
    EXPECT_EQ(document["bytes"], 4096);
}

TEST(CommandLine, verbsAndTheirOptions) {
    const auto stop = std::get<CommandLine>(parse({"stop", "--grace", "2s", "--wait", "sge.1", "--json"}));
    EXPECT_EQ(stop.verb, "stop");
    EXPECT_EQ(stop.jobs, (std::vector<std::string>{"sge.1"}));
    EXPECT_EQ(stop.grace, 2'000'000U);
    EXPECT_TRUE(stop.wait && stop.json);
    const auto adopt = std::get<CommandLine>(parse({"adopt", "sge.1", "12", "13", "--dry-run"}));
    EXPECT_EQ(adopt.arguments, (std::vector<std::string>{"12", "13"}));
    EXPECT_TRUE(adopt.dryRun);
    const auto open =
        std::get<CommandLine>(parse({"open", "sge.1", "--adopt=12", "--adopt=13", "--uid=1000", "--owner=1001", "--replace"}));
    EXPECT_EQ(open.arguments, (std::vector<std::string>{"12", "13"}));
    EXPECT_EQ(open.job, "sge.1");
    EXPECT_EQ(open.user, "1000");
    EXPECT_EQ(open.owner, "1001");
    EXPECT_TRUE(open.replace);
    const auto list = std::get<CommandLine>(parse({"--no-legend", "list", "-o", "key,user"}));
    EXPECT_EQ(list.columns, (std::vector<std::string>{"key", "user"}));
    EXPECT_FALSE(list.legend);
    const auto run = std::get<CommandLine>(parse({"run", "--dry-run", "--memory-max", "1G", "--", "x", "--not-ours"}));
    EXPECT_EQ(run.limits.memoryMax, 1U << 30);
    const auto history =
        std::get<CommandLine>(parse({"history", "--result", "timeout", "--scheduler", "sge", "--failed", "--leftovers"}));
    EXPECT_EQ(history.result, "timeout");
    EXPECT_EQ(history.scheduler, "sge");
    EXPECT_TRUE(history.failed && history.leftovers);
    const auto vacuum = std::get<CommandLine>(parse({"vacuum", "--max-age", "30d", "--max-size", "0"}));
    EXPECT_EQ(vacuum.maxAge, 2'592'000'000'000U);
    EXPECT_EQ(vacuum.maxSize, 0U);
    EXPECT_FALSE(std::get<CommandLine>(parse({"vacuum"})).maxAge) << "unset: the site's";
}

TEST(CommandLine, drainOfTheNodeAndItsEnd) {
    const auto drain = std::get<CommandLine>(parse({"drain", "--reason", "new disk", "--wait", "--timeout", "2h"}));
    EXPECT_EQ(drain.reason, "new disk");
    EXPECT_TRUE(drain.wait);
    EXPECT_EQ(drain.timeout, 7'200'000'000U);
    EXPECT_FALSE(std::get<CommandLine>(parse({"drain"})).timeout) << "without end";
    EXPECT_EQ(std::get<CommandLine>(parse({"undrain"})).verb, "undrain");
}

TEST(Json, aDrain) {
    const auto none = nlohmann::json::parse(jsonNode("1.2.3", {}, std::nullopt));
    EXPECT_FALSE(none["draining"]);
    EXPECT_TRUE(none["drain"].is_null());
    const auto drained =
        nlohmann::json::parse(jsonNode("1.2.3", {}, Drain{.reason = "new disk", .since = 1'700'000'010'000'000, .by = 0}));
    EXPECT_TRUE(drained["draining"]);
    EXPECT_EQ(drained["drain"], nlohmann::json({{"reason", "new disk"},
                                                {"since", 1'700'000'010'000'000},
                                                {"since_iso", "2023-11-14T22:13:30Z"},
                                                {"by_uid", 0},
                                                {"by", "root"}}));
    const auto itself = nlohmann::json::parse(jsonNode("1.2.3", {}, Drain{.reason = "job", .since = {}, .by = {}}));
    EXPECT_TRUE(itself["draining"] && itself["drain"]["by"].is_null() && itself["drain"]["since_iso"].is_null());
}

TEST(CommandLine, everyVerbIsDone) {
    for (const char* verb : {"list", "status", "history", "drain", "undrain", "vacuum", "version"})
        EXPECT_NE(findVerb(std::get<CommandLine>(parse({verb})).verb), nullptr) << verb;
}

TEST(CommandLine, anUnknownResultIsToldWhichThereAre) {
    const auto text = std::get<EarlyExit>(parse({"history", "--result", "crashed"})).text;
    for (const auto& name : jobResultNames())
        EXPECT_NE(text.find(name), std::string::npos) << text;
}

TEST(CommandLine, wordsOfAClosedSetAreToldWhenOneIsWrong) {
    for (const auto& [words, known] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"list", "--state", "runing"}, "running"},
             {{"top", "--sort", "beauty"}, "memory"},
             {{"list", "--color", "green"}, "never"},
             {{"strays", "--mode", "murder"}, "report"},
             {{"strays", "--kinds", "cat"}, "session"},
             {{"run", "--oom-policy", "both", "--", "true"}, "process"}}) {
        const auto result = parse(words);
        ASSERT_TRUE(std::holds_alternative<EarlyExit>(result)) << words.back();
        EXPECT_NE(std::get<EarlyExit>(result).text.find(known), std::string::npos) << std::get<EarlyExit>(result).text;
    }
    EXPECT_NE(listColumns({"kee"}, {}, {}).error().message.find("key, user"), std::string::npos);
}

TEST(CommandLine, top) {
    const auto line = std::get<CommandLine>(parse({"top"}));
    EXPECT_EQ(line.top.sort, "cpu");
    EXPECT_EQ(line.top.delay, 1'000'000U);
    EXPECT_EQ(line.top.iterations, 0U);
    EXPECT_FALSE(line.top.batch);
    const auto all = std::get<CommandLine>(parse({"top", "-s", "io", "-b", "-n", "3", "-d", "0.1", "-u", "alice"}));
    EXPECT_EQ(all.top.sort, "io");
    EXPECT_EQ(all.top.delay, 100'000U);
    EXPECT_EQ(all.top.iterations, 3U);
    EXPECT_TRUE(all.top.batch);
    EXPECT_EQ(all.user, "alice");
    for (const auto& words : std::vector<std::vector<std::string>>{
             {"top", "-s", "beauty"}, {"top", "-d", "0.09"}, {"top", "-d", "3601"}, {"top", "-d", "soon"}, {"top", "-n", "0"}})
        EXPECT_TRUE(std::holds_alternative<EarlyExit>(parse(words))) << words.back();
}

TEST(CommandLine, mistakesAreOneLineAndStatusTwo) {
    for (const auto& words : std::vector<std::vector<std::string>>{{"lsit"},
                                                                   {"stop"},
                                                                   {"stop", "a", ""},
                                                                   {"end", "a", "b"},
                                                                   {"list", "--nonsense"},
                                                                   {"stop", "x", "--grace", "soon"},
                                                                   {"resume", ""},
                                                                   {"resume"},
                                                                   {"undrain", "sge.1"},
                                                                   {"list", "--state", "runing"},
                                                                   {"suspend"},
                                                                   {"history", "-n", "0"},
                                                                   {"history", "--result", "crashed"},
                                                                   {"history", "--scheduler", "sge.1"},
                                                                   {"vacuum", "--max-age", "old"}}) {
        const auto result = parse(words);
        ASSERT_TRUE(std::holds_alternative<EarlyExit>(result)) << words.front();
        EXPECT_EQ(std::get<EarlyExit>(result).status, 2);
        EXPECT_EQ(std::count(std::get<EarlyExit>(result).text.begin(), std::get<EarlyExit>(result).text.end(), '\n'), 1);
    }
    EXPECT_NE(std::get<EarlyExit>(parse({"lsit"})).text.find("did you mean 'list'"), std::string::npos);
}

TEST(CommandLine, helpLeadsWithExamplesAndFitsATerminal) {
    const auto help = std::get<EarlyExit>(parse({"--help"}));
    EXPECT_EQ(help.status, 0);
    EXPECT_LT(help.text.find("Examples:"), help.text.find("Options:"));
    for (std::size_t start = 0, end = 0; (end = help.text.find('\n', start)) != std::string::npos; start = end + 1)
        EXPECT_LE(end - start, 80U) << help.text.substr(start, end - start);
}

TEST(Suggestion, onlyWhatIsNear) {
    EXPECT_EQ(suggestion("hsitory", {"list", "history"}), ", did you mean 'history'?");
    EXPECT_EQ(suggestion("zzz", {"list", "history"}), "");
}

TEST(Format, pointsInTime) {
    constexpr std::uint64_t now = 1'700'000'000'000'000; // 2023-11-14T22:13:20Z
    EXPECT_EQ(*parseWhen("now", now), now);
    EXPECT_EQ(*parseWhen("-1h", now), now - 3'600'000'000);
    EXPECT_EQ(*parseWhen("today", now), 1'699'920'000'000'000U);
    EXPECT_EQ(*parseWhen("2023-11-14 22:13", now), 1'699'999'980'000'000U);
    EXPECT_FALSE(parseWhen("tomorrow-ish", now));
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
    EXPECT_TRUE(nlohmann::json::parse(jsonReceipt(receipt))["receipt"]["oom_line"].is_null());
    receipt.oom.emplace();
    receipt.oom->victim = 77;
    receipt.oom->victimName = "hog";
    EXPECT_EQ(nlohmann::json::parse(jsonReceipt(receipt))["receipt"]["oom_line"],
              "Cgroup memory limit exceeded: Killed process 77 (hog)");
}

TEST(TimeOut, saysWhatIsLeft) {
    EXPECT_EQ(stillThere("sge.1", ShownState::Ending, 1, 300'000), "job sge.1 is still ending after 300ms: 1 process is left");
    EXPECT_EQ(stillThere("sge.1", ShownState::Ending, 2, 1'000'000), "job sge.1 is still ending after 1s: 2 processes are left");
    EXPECT_EQ(stillThere("sge.1", ShownState::Running, {}, 1'000'000), "job sge.1 is still running after 1s");
}

TEST(Limits, aChangeIsSaidInALineForEach) {
    const ResourceLimits change{.memoryMax = 1ULL << 30, .tasksMax = 50};
    const ResourceLimits before{.memoryMax = kInfinity, .cpuWeight = 7};
    EXPECT_EQ(changeLines(change, before, withDefaults(change, before), {}), "memory_max: infinity -> 1G\ntasks_max: - -> 50\n");
}

TEST(Limits, whatHasNoEffectIsWarnedOf) {
    const ResourceLimits change{.memoryMax = 1ULL << 30, .memoryZswapMax = 0, .tasksMax = 50};
    ResourceLimits after = change;
    after.memoryZswapMax.reset(); // this node's systemd does not know it
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

TEST(CommandLineTest, takesTheSignalOfKillAsKillDoes) {
    for (const char* word : {"-9", "-KILL", "-SIGKILL"})
        EXPECT_EQ(std::get<CommandLine>(parse({"kill", word, "sge.1"})).signal, std::string(word + 1)) << word;
    EXPECT_EQ(std::get<CommandLine>(parse({"kill", "-s", "9", "sge.1"})).signal, "9");
    EXPECT_EQ(std::get<EarlyExit>(parse({"kill", "-nonsense", "sge.1"})).status, 2);
}

TEST(CommandLineTest, logsAndEvents) {
    const auto logs = std::get<CommandLine>(parse({"logs", "sge.1", "-f", "-n", "20"}));
    EXPECT_EQ(logs.job, "sge.1");
    EXPECT_TRUE(logs.follow);
    EXPECT_EQ(logs.lines, 20U);
    EXPECT_FALSE(std::get<CommandLine>(parse({"events"})).json);
    for (const char* word : {"--json", "--json=lines"})
        EXPECT_TRUE(std::get<CommandLine>(parse({"events", word})).json) << word;
    EXPECT_EQ(std::get<EarlyExit>(parse({"events", "--json=pages"})).status, 2);
}

TEST(EventLine, isForPeopleAndForPrograms) {
    const Event event{.name = "leftovers-found", .job = "sge.1", .task = 0, .count = 3};
    EXPECT_EQ(eventLine(event, 1'700'000'010'000'000), "2023-11-14T22:13:30Z leftovers-found sge.1 task=0 count=3\n");
    const auto text = jsonEvent(event, 1'700'000'010'000'000);
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
                                                           {"reason", nullptr}}));
    EXPECT_EQ(eventLine({.name = "drained", .reason = "new disk"}, 0), "1970-01-01T00:00:00Z drained reason=new disk\n");
}

TEST(CommandLineTest, takesSeveralJobs) {
    const std::vector<std::string> both{"sge.1", "sge.2"};
    for (const char* verb : {"status", "show", "why", "stop", "wait", "kill", "limits", "suspend", "resume"})
        EXPECT_EQ(std::get<CommandLine>(parse({verb, "sge.1", "sge.2"})).jobs, both) << verb;
    EXPECT_EQ(std::get<CommandLine>(parse({"kill", "sge.1", "-9", "sge.2"})).jobs, both);
    EXPECT_EQ(std::get<CommandLine>(parse({"limits", "--tasks-max", "7", "sge.1", "sge.2"})).jobs, both);
    const auto show = std::get<CommandLine>(parse({"show", "-p", "key,uid", "-p", "state", "sge.1", "sge.2"}));
    EXPECT_EQ(show.jobs, both);
    EXPECT_EQ(show.properties, (std::vector<std::string>{"key", "uid", "state"}));
    EXPECT_TRUE(std::get<CommandLine>(parse({"status"})).jobs.empty()) << "the node";
}

TEST(CommandLineTest, saysItsVersion) {
    const auto said = std::get<EarlyExit>(parse({"--version"}));
    EXPECT_EQ(said.status, 0);
    EXPECT_TRUE(said.text.starts_with("pinfold ")) << said.text;
}

TEST(CommandLineTest, takesTheSignalThatEndedAJobByNameOrNumber) {
    EXPECT_EQ(std::get<CommandLine>(parse({"end", "pbs.1", "--exit-signal", "KILL"})).exit.signal, 9);
    EXPECT_EQ(std::get<CommandLine>(parse({"end", "pbs.1", "--exit-signal", "15"})).exit.signal, 15);
    EXPECT_EQ(std::get<EarlyExit>(parse({"end", "pbs.1", "--exit-signal", "15", "--exit-status", "3"})).status, 2);
}

} // namespace
} // namespace pinfold
