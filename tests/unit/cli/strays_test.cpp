// SPDX-License-Identifier: LGPL-2.1-or-later
#include "parse_words.hpp"

#include "cli/json.hpp"
#include "cli/stray_options.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pinfold {
namespace {

using Words = std::vector<std::string>;

/// Parses `words`, which are options of `pinfold strays`. Returns the parsed options, or pinfold's message.
std::variant<StraysOptions, EarlyExit> parsed(Words words) {
    StraysOptions seen;
    const auto verb = makeVerb("strays", "", straysOptions, [&seen](const VerbContext&, const StraysOptions& options) {
        seen = options;
        return ExitStatus::Ok;
    });
    words.insert(words.begin(), "strays");
    const auto result = parse(words, {verb});
    if (const auto* early = std::get_if<EarlyExit>(&result))
        return *early;
    const auto& line = std::get<CommandLine>(result);
    line.verb.run(VerbContext(line.output));
    return seen;
}

/// Applies the options in `words` to the section [strays] of a site's configuration, and returns the changed section.
StraysConfig applied(const Words& words, const StraysConfig& config = {}) {
    const auto options = parsed(words);
    if (const auto* early = std::get_if<EarlyExit>(&options)) {
        ADD_FAILURE() << early->text;
        return config;
    }
    return std::get<StraysOptions>(options).applied(config);
}

Stray sample() {
    Stray stray;
    stray.process.info.pid = 4711;
    stray.process.info.parent = 7;
    stray.process.info.realUid = 4'000'000;
    stray.process.info.terminal = 0x8803;
    stray.process.info.command = "sleep 1000";
    stray.process.cgroup = "/elsewhere\n";
    stray.kind = StrayKind::Moved;
    stray.unit = "/elsewhere";
    stray.age = 61s;
    return stray;
}

TEST(Strays, optionsTakeTheSitesPlaceButForExemptions) {
    StraysConfig site;
    site.users = {"alice"};
    site.exemptUsers = {"bob"};
    site.maxKills = 3;
    const auto config = applied({"--users=carol,1005",
                                 "--exempt-users",
                                 "dave",
                                 "--exempt-units",
                                 "a.service,b.slice",
                                 "--min-age",
                                 "2min",
                                 "--kinds",
                                 "session,linger",
                                 "--commands",
                                 "a,b",
                                 "--commands",
                                 "*c",
                                 "--without-job",
                                 "--min-uid",
                                 "500",
                                 "--max-uid",
                                 "600",
                                 "--min-cpu",
                                 "1s",
                                 "--grace",
                                 "0"},
                                site);
    EXPECT_EQ(config.users, (std::vector<std::string>{"carol", "1005"}));
    EXPECT_EQ(config.exemptUsers, (std::vector<std::string>{"bob", "dave"}));
    EXPECT_EQ(config.exemptGroups, std::vector<std::string>{"pinfold-admin"});
    EXPECT_EQ(config.exemptUnits, (std::vector<std::string>{"a.service", "b.slice"}));
    EXPECT_EQ(config.minAge, 2min);
    EXPECT_EQ(config.kinds, (StrayKinds{StrayKind::Session, StrayKind::Linger}));
    EXPECT_EQ(config.commands, (std::vector<std::string>{"a,b", "*c"}));
    EXPECT_TRUE(config.withoutJob);
    EXPECT_EQ(config.minUid, 500U);
    EXPECT_EQ(config.maxUid, 600U);
    EXPECT_EQ(config.minCpu, 1s);
    EXPECT_EQ(config.grace, 0s);
    EXPECT_EQ(config.maxKills, 3U);
}

TEST(Strays, theModeByHandIsReportWhateverTheSiteHas) {
    const auto mode = [](const std::vector<std::string>& words) { return std::get<StraysOptions>(parsed(words)).mode; };
    EXPECT_EQ(mode({}), StraysMode::Report);
    EXPECT_EQ(mode({"--mode=kill"}), StraysMode::Kill);
    EXPECT_EQ(mode({"--mode", "configured"}), std::nullopt);
}

TEST(Strays, whatIsWrongIsAUsageError) {
    for (const std::vector<std::string>& words : {std::vector<std::string>{"--mode=murder"},
                                                  {"--min-uid", "0"},
                                                  {"--min-uid", "x"},
                                                  {"--kinds", "orphan"},
                                                  {"--kinds", "sesion"},
                                                  {"--min-age", "infinity"},
                                                  {"--grace", "2h"},
                                                  {"--max-kills", "0"},
                                                  {"--users", ","},
                                                  {"surplus"}}) {
        const auto result = parsed(words);
        ASSERT_TRUE(std::holds_alternative<EarlyExit>(result)) << words.front();
        EXPECT_EQ(std::get<EarlyExit>(result).status, 2);
    }
    EXPECT_NE(std::get<EarlyExit>(parsed({"--kinds", "sesion"})).text.find("did you mean 'session'"), std::string::npos);
}

TEST(Strays, aRangeWithoutUsersIsAMistake) {
    for (const auto& kind : {Words{}, Words{"--files"}}) {
        Words words{"strays", "--min-uid", "5000", "--max-uid", "2000"};
        words.insert(words.end(), kind.begin(), kind.end());
        const auto line = std::get<CommandLine>(parse(words));
        EXPECT_EQ(line.verb.run(VerbContext(line.output)), ExitStatus::Usage);
    }
}

TEST(Strays, aLineSaysWhatIsDoneOrWouldBe) {
    const auto stray = sample();
    EXPECT_EQ(actionLine(stray, {StrayAction::Kind::Kill, {}}, false),
              "sent SIGKILL to 4711 of 4000000 (moved, /elsewhere): sleep 1000\n");
    EXPECT_EQ(actionLine(stray, {StrayAction::Kind::Terminate, {}}, true),
              "would send SIGTERM to 4711 of 4000000 (moved, /elsewhere): sleep 1000\n");
    EXPECT_EQ(actionLine(stray, {StrayAction::Kind::Spare, "max_kills is reached"}, false),
              "spared 4711 of 4000000 (moved, /elsewhere), because max_kills is reached: sleep 1000\n");
}

TEST(Strays, tableAndJson) {
    auto row = rowOf(sample());
    addAction(row, {StrayAction::Kind::Terminate, {}});
    addAction(row, {StrayAction::Kind::Kill, {}});
    addAction(row, {StrayAction::Kind::Failure, "SIGKILL did not end it"});
    EXPECT_EQ(strayTable({row}, Amounts{}, {.pairs = true}), "PID=\"4711\" USER=\"4000000\" UID=\"4000000\" KIND=\"moved\" "
                                                             "HAS_JOB=\"-\" AGE=\"1min 1s\" CPU=\"0\" RSS=\"0\" PARENT=\"7\" "
                                                             "TTY=\"pts/3\" UNIT=\"/elsewhere\" COMMAND=\"sleep 1000\"\n");
    StrayRun run;
    run.mode = "stop";
    run.reasons = {"why"};
    run.rows = {row};
    const auto json = nlohmann::json::parse(jsonStrays(run));
    EXPECT_EQ(json["schema"], 1);
    EXPECT_EQ(json["reasons"], (std::vector<std::string>{"why"}));
    const auto& stray = json["strays"][0];
    EXPECT_EQ(stray["pid"], 4711);
    EXPECT_EQ(stray["kind"], "moved");
    EXPECT_TRUE(stray["has_job"].is_null());
    EXPECT_EQ(stray["tty"], "pts/3");
    EXPECT_EQ(stray["cgroup"], "/elsewhere\\x0a");
    EXPECT_EQ(stray["actions"], (std::vector<std::string>{"SIGTERM", "SIGKILL"}));
    EXPECT_EQ(stray["failure"], "SIGKILL did not end it");
    EXPECT_TRUE(stray["spared"].is_null());
}

} // namespace
} // namespace pinfold
