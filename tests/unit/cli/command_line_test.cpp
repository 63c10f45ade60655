// SPDX-License-Identifier: LGPL-2.1-or-later
#include "parse_words.hpp"

#include "base/parse.hpp"
#include "base/word_list.hpp"
#include "cli/become_run.hpp"
#include "run/options.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

namespace pinfold {
namespace {

using Words = std::vector<std::string>;

std::string refusal(const Words& words) {
    const auto parsed = parse(words);
    const auto* early = std::get_if<EarlyExit>(&parsed);
    return early && early->status == 2 ? early->text : "";
}

/// Parses the command line `words`. Returns the name of the verb, or pinfold's message if pinfold refuses the command line.
std::string verbOf(const Words& words) {
    const auto parsed = parse(words);
    if (const auto* early = std::get_if<EarlyExit>(&parsed))
        return early->text;
    return std::get<CommandLine>(parsed).verb.name;
}

TEST(CommandLine, optionsOfEachKindReachTheVerb) {
    struct Options {
        Words jobs;
        bool flag = false;
        std::optional<Microseconds> time;
        std::uint32_t number = 7;
        Words columns;
        Words repeated;
        bool optional = false;
    } seen;
    OptionSet (*describe)(Options&) = [](Options& options) -> OptionSet {
        return {{.name = "JOB", .help = "", .set = into(options.jobs), .values = Values::Several},
                {.name = "--flag", .letter = 'f', .help = "", .set = into(options.flag)},
                {.name = "--time", .value = "TIME", .help = "", .set = into(options.time, parseDuration)},
                {.name = "--number", .letter = 'n', .value = "N", .help = "", .set = into(options.number, numberFrom(1, 9))},
                {.name = "--columns",
                 .value = "C",
                 .help = "",
                 .set = into(options.columns),
                 .values = Values::Several,
                 .separator = ','},
                {.name = "--each", .value = "C", .help = "", .set = into(options.repeated), .values = Values::Repeated},
                {.name = "--form",
                 .value = "F",
                 .help = "",
                 .set = into(options.optional),
                 .values = Values::Optional,
                 .words = {"a"}}};
    };
    const auto run = [&](const Words& words) {
        const auto verb = makeVerb("try", "", describe, [&seen](const VerbContext&, const Options& options) {
            seen = options;
            return ExitStatus::Ok;
        });
        auto parsed = parse(words, {verb});
        if (const auto* early = std::get_if<EarlyExit>(&parsed))
            return early->text;
        const auto& line = std::get<CommandLine>(parsed);
        line.verb.run(VerbContext(line.output));
        return std::string("pinfold ") + (line.output.json ? "json" : "text");
    };
    EXPECT_EQ(run({"try"}), "pinfold text");
    EXPECT_TRUE(!seen.flag && !seen.time && seen.number == 7 && seen.jobs.empty() && !seen.optional);
    EXPECT_EQ(
        run({"try", "a", "--each", "x", "-f", "--columns", "u,v", "--time=2s", "-n", "9", "--each=y", "b", "--json", "--form"}),
        "pinfold json");
    EXPECT_EQ(seen.jobs, (Words{"a", "b"}));
    EXPECT_TRUE(seen.flag && seen.optional);
    EXPECT_EQ(seen.time, 2s);
    EXPECT_EQ(seen.number, 9U);
    EXPECT_EQ(seen.columns, (Words{"u", "v"}));
    EXPECT_EQ(seen.repeated, (Words{"x", "y"}));
    EXPECT_EQ(run({"try", "{}", "--each", "[x]"}), "pinfold text");
    EXPECT_TRUE(seen.jobs == Words{"{}"} && seen.repeated == Words{"[x]"}) << "CLI11 has lists of its own";
    EXPECT_EQ(run({"try", "--form=pages"}), "pinfold: --form: 'pages' is not valid: use a; see pinfold try --help\n");
    EXPECT_EQ(run({"try", "-n", "10"}),
              "pinfold: --number: '10' is not valid: use a number from 1 to 9; see pinfold try --help\n");
    EXPECT_EQ(run({"try", "--time"}), "pinfold: --time: 1 required TIME missing; see pinfold try --help\n");
}

TEST(CommandLine, eachVerbTakesItsOptions) {
    for (const auto& words : std::vector<Words>{
             {"stop", "--grace", "2s", "--wait", "sge.1", "--json"},
             {"adopt", "sge.1", "12", "13", "--dry-run"},
             {"open", "sge.1", "--adopt=12", "--adopt=13", "--uid=1000", "--owner=1001", "--replace", "--memory-max", "1G"},
             {"list", "-o", "key,user", "--sort", "age", "--state", "running", "-u", "alice"},
             {"run", "--dry-run", "--memory-max", "1G", "--", "x", "--not-ours"},
             {"history", "--result", "timeout", "--scheduler", "sge", "--failed", "--leftovers", "-n", "10000", "-P"},
             {"vacuum", "--max-age", "30d", "--max-size", "0", "--dry-run"},
             {"drain", "--reason", "new disk", "--wait", "--timeout", "2h"},
             {"undrain"},
             {"archive", "status", "--host", "db.example.org", "--port", "5433", "--user", "pinfold_reader"},
             {"archive", "prune", "--older-than", "400d"},
             {"status"},
             {"top", "-s", "io", "-b", "-n", "3", "-d", "0.1", "-u", "alice"},
             {"kill", "-s", "9", "sge.1"},
             {"kill", "sge.1", "-9", "sge.2"},
             {"logs", "sge.1", "-f", "-n", "20"},
             {"events"},
             {"events", "--json"},
             {"events", "--json=lines"},
             {"end", "pbs.1", "--exit-signal", "KILL"},
             {"end", "pbs.1", "--exit-signal", "15"},
             {"end", "pbs.1", "--exit-status", "255"},
             {"show", "-p", "key,uid", "-p", "state", "sge.1", "sge.2"},
             {"limits", "--tasks-max", "7", "sge.1", "sge.2", "--force"}})
        EXPECT_EQ(verbOf(words), words.front());
    for (const char* verb : {"status", "show", "ps", "why", "stop", "wait", "kill", "limits", "suspend", "resume"})
        EXPECT_EQ(verbOf({verb, "sge.1", "sge.2"}), verb);
    EXPECT_FALSE(std::get<CommandLine>(parse({"--no-legend", "list"})).output.legend);
    EXPECT_TRUE(std::get<CommandLine>(parse({"history", "-P"})).output.pairs);
    EXPECT_EQ(verbOf({"--color", "never", "list", "-o", "key"}), "list");
}

TEST(CommandLine, eachVerbHasANameASummaryAndAnAction) {
    std::set<std::string> names;
    for (const auto& verb : allVerbs()) {
        EXPECT_TRUE(names.insert(verb.name).second) << verb.name;
        EXPECT_TRUE(!verb.summary.empty() && verb.run) << verb.name;
        for (const auto& option : verb.options)
            EXPECT_TRUE(!option.help.empty() && option.set) << verb.name << " " << option.name;
    }
}

TEST(CommandLine, wordsOfAClosedSetAreToldWhenOneIsWrong) {
    for (const auto& [words, known] : std::vector<std::pair<Words, Words>>{
             {{"list", "--state", "runing"}, {"did you mean 'running'", "creating", "accounting"}},
             {{"list", "-o", "key,kee"}, {"'kee'", "did you mean 'key'", "memory_max"}},
             {{"list", "--state", "{}"}, {"creating"}},
             {{"strays", "--kinds", "session,cat"}, {"'cat'", "session", "other"}},
             {{"kill", "x.1", "-s", "TREM"}, {"'TREM'", "TERM"}}})
        for (const auto& word : known)
            EXPECT_NE(refusal(words).find(word), std::string::npos) << word << ": " << refusal(words);
}

TEST(CommandLine, anUnknownVerbIsRefusedWithTheListOfVerbs) {
    Words verbs;
    std::ranges::transform(allVerbs(), std::back_inserter(verbs), &Verb::name);
    EXPECT_EQ(refusal({"lst"}),
              "pinfold: unknown command 'lst', did you mean 'list'? Use " + enumerated(verbs) + "; see pinfold --help\n");
    EXPECT_EQ(refusal({"frob\nnicate", "--json"}),
              "pinfold: unknown command 'frob\\x0anicate': use " + enumerated(verbs) + "; see pinfold --help\n");
}

/// Returns the options of all verbs, the common options, and the options of pinfold-run.
std::vector<std::pair<std::string, Option>> allOptions(const std::vector<Verb>& verbs, OutputOptions& output, RunOptions& run) {
    std::vector<std::pair<std::string, Option>> all;
    const auto add = [&all](const std::string& command, const OptionSet& options) {
        for (const auto& option : options)
            if (option.set && !option.isFlag())
                all.emplace_back(command + " " + option.name, option);
    };
    for (const auto& verb : verbs)
        add(verb.name, verb.options);
    add("pinfold", outputOptions(output));
    add("pinfold-run", runOptions(run));
    return all;
}

/// An option accepts every text if `texts` contains the name of the option's value, such as FILE.
TEST(CommandLine, everyOptionSaysWhichWordsItKnows) {
    const std::set<std::string> texts{"COMMAND", "DIR",  "DIRECTORY", "EPOCH", "FILE",    "GROUP,...",   "HOST",
                                      "HOSTS",   "JOB",  "KEY",       "NAME",  "PATTERN", "PATTERN,...", "PID",
                                      "ROLE",    "TEXT", "TIME",      "USER",  "USER,..."};
    const auto verbs = allVerbs();
    OutputOptions output;
    RunOptions run;
    std::size_t sets = 0;
    for (const auto& [name, option] : allOptions(verbs, output, run)) {
        const auto known = option.words.empty() ? "use " : enumerated(option.words);
        const auto set = apply(option, "no such w\x01rd");
        sets += option.words.empty() ? 0 : 1;
        if (set)
            EXPECT_TRUE(texts.contains(option.isArgument() ? option.name : std::string(option.value)))
                << name << " takes any text";
        else
            EXPECT_NE(set.error().message.find(known), std::string::npos) << name << ": " << set.error().message;
    }
    EXPECT_GT(sets, 10U);
}

TEST(CommandLine, mistakesAreOneLineThatNamesTheHelp) {
    for (const auto& words : std::vector<Words>{{"wait"},
                                                {"stop", "a", "--user", "alice"},
                                                {"stop", "a", ""},
                                                {"end", "a", "b"},
                                                {"end", "a", "--exit-signal", "15", "--exit-status", "3"},
                                                {"list", "--nonsense"},
                                                {"list", "--user"},
                                                {"stop", "x", "--grace", "soon"},
                                                {"resume", ""},
                                                {"resume"},
                                                {"undrain", "sge.1"},
                                                {"suspend"},
                                                {"status", "--jobs", "sge.1"},
                                                {"history", "-n", "0"},
                                                {"history", "--scheduler", "sge.1"},
                                                {"kill", "-nonsense", "sge.1"},
                                                {"events", "--json=pages"},
                                                {"open", "sge.1"},
                                                {"open", "sge.1", "--uid", "1", "--cpus", "-1"},
                                                {"strays", "--remove"},
                                                {"top", "-d", "0.09"},
                                                {"top", "-d", "3601"},
                                                {"top", "-d", "soon"},
                                                {"top", "-n", "0"},
                                                {"vacuum", "--max-age", "old"},
                                                {"archive"},
                                                {"archive", "drop"},
                                                {"archive", "status", "--port", "0"},
                                                {"archive", "prune", "--older-than", "1h"}}) {
        const auto text = refusal(words);
        EXPECT_EQ(std::ranges::count(text, '\n'), 1) << words.front();
        EXPECT_NE(text.find("; see pinfold " + words.front() + " --help\n"), std::string::npos) << text;
    }
    EXPECT_NE(refusal({"limits", "sge.1", "--memory-mix=1G"}).find("did you mean '--memory-max'?; see"), std::string::npos);
    EXPECT_NE(refusal({"lsit"}).find("did you mean 'list'"), std::string::npos);
}

void expectThatItFits(const std::string& help) {
    std::istringstream lines(help);
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 80U) << line;
}

TEST(CommandLine, helpLeadsWithExamplesAndFitsATerminal) {
    const auto help = std::get<EarlyExit>(parse({"--help"}));
    EXPECT_EQ(help.status, 0);
    EXPECT_LT(help.text.find("Examples:"), help.text.find("Options:"));
    expectThatItFits(help.text);
    for (const auto& verb : allVerbs()) {
        EXPECT_NE(help.text.find("\n  " + verb.name + " "), std::string::npos) << verb.name;
        const auto page = std::get<EarlyExit>(parse({verb.name, "--help"}));
        EXPECT_EQ(page.status, 0);
        EXPECT_TRUE(page.text.starts_with("Usage: pinfold " + verb.name + " ")) << page.text;
        expectThatItFits(page.text);
        for (const auto& option : verb.options)
            EXPECT_NE(page.text.find(option.name), std::string::npos) << verb.name << " " << option.name;
    }
}

TEST(CommandLine, saysItsVersion) {
    const auto said = std::get<EarlyExit>(parse({"--version"}));
    EXPECT_EQ(said.status, 0);
    EXPECT_TRUE(said.text.starts_with("pinfold ")) << said.text;
}

TEST(CommandLine, takesTheSignalOfKillAsKillDoes) {
    for (const char* word : {"-9", "-KILL", "-SIGKILL"})
        EXPECT_EQ(killVerb().reword(word), "--signal=" + std::string(word + 1));
    EXPECT_EQ(killVerb().reword("-nonsense"), "-nonsense");
}

TEST(CommandLine, dryRunOfRunIsAnOptionOnlyBeforeTheCommand) {
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
    EXPECT_EQ(words({"pinfold", "run", "--task", "make", "--dry-run"}), std::nullopt);
    EXPECT_EQ(words({"pinfold", "run", "-j", "a.1", "--memory-max=1G", "--dry-run", "make", "-j4"}), 6);
    EXPECT_EQ(words({"pinfold", "run", "--tasks-max", "7", "--json", "--dry-run", "--", "make"}), 6);
    EXPECT_EQ(words({"pinfold", "run", "--dry-run", "--job"}), 4);
}

} // namespace
} // namespace pinfold
