// SPDX-License-Identifier: LGPL-2.1-or-later
#include "config/config.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <algorithm>
#include <fstream>

namespace pinfold::test {
namespace {

class StraysSection : public TemporaryDirectory {
protected:
    Result<LoadedConfig> load(std::string_view text) const {
        write("etc/pinfold/pinfold.toml", text);
        return loadConfig(ConfigPaths::below(top()));
    }
};

/// Returns the section [strays] of the example, but without the comment signs before the keys.
std::string exampleSection() {
    std::ifstream file(PINFOLD_EXAMPLE);
    std::string text;
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('['))
            inside = line == "[strays]";
        const bool isKey = line.starts_with('#') && line.find(" = ") != std::string::npos && line[1] != ' ';
        if (inside && isKey)
            text += line.substr(1) + "\n";
        else if (inside && !line.starts_with('#'))
            text += line + "\n";
    }
    return text;
}

} // namespace

TEST_F(StraysSection, everyKeyIsRead) {
    const auto loaded = load(R"([strays]
mode = "stop"
min_uid = 500
max_uid = 60000
users = ["alice", "1001"]
exempt_users = ["bob"]
exempt_groups = ["wheel"]
exempt_units = ["site-*.service", "site.slice"]
commands = ["*matlab*"]
kinds = ["session", "service"]
without_job = true
min_age = "2min"
min_cpu = "10s"
grace = "0"
max_kills = 7
files = "remove"
file_directories = ["/scratch"]
file_min_age = 0
)");
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
    EXPECT_EQ(loaded->config.strays,
              (StraysConfig{.mode = StraysMode::Stop,
                            .minUid = 500,
                            .maxUid = 60000,
                            .users = {"alice", "1001"},
                            .exemptUsers = {"bob"},
                            .exemptGroups = {"wheel"},
                            .exemptUnits = {"site-*.service", "site.slice"},
                            .commands = {"*matlab*"},
                            .kinds = {StrayKind::Session, StrayKind::Service},
                            .withoutJob = true,
                            .minAge = 2min,
                            .minCpu = 10s,
                            .grace = 0s,
                            .maxKills = 7,
                            .files = {.policy = LeftoverFilesPolicy::Remove, .directories = {"/scratch"}, .minAge = 0s}}));
}

TEST_F(StraysSection, theExampleShowsEveryDefault) {
    const auto example = exampleSection();
    const auto loaded = load(example);
    ASSERT_TRUE(loaded) << loaded.error().message;
    EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front();
    EXPECT_EQ(loaded->config.strays, StraysConfig{});
    EXPECT_EQ(std::count(example.begin(), example.end(), '='), 17);
}

TEST_F(StraysSection, whatIsWrongIsSaid) {
    const std::pair<const char*, const char*> cases[] = {
        {"mode = \"murder\"", ": use \"report\", \"warn\", \"stop\" or \"kill\""},
        {"min_uid = 0", "out of range"},
        {"max_uid = 4294967295", "out of range"},
        {"min_uid = 2000\nmax_uid = 1999", "strays.min_uid is above strays.max_uid"},
        {"users = \"alice\"", "is not a list of users"},
        {"exempt_users = [\"\"]", "is not a list of users"},
        {"exempt_units = [\"/system.slice/x\"]", "is not a list of unit names"},
        {"kinds = [\"sessions\"]", "use a list with some of \"session\", \"user-manager\","},
        {"kinds = [\"orphan\"]", "\"supervisor\" and \"other\""},
        {"min_age = \"infinity\"", "out of range"},
        {"grace = \"2h\"", "0 to 1 h"},
        {"max_kills = 0", "out of range"},
        {"files = \"kill\"", ": use \"report\" or \"remove\""},
        {"file_directories = [\"tmp\"]", "is not a list of absolute paths"},
        {"file_directories = [\"/\"]", "is not a list of absolute paths"},
        {"file_directories = [\"/tmp/\"]", "is not a list of absolute paths"},
        {"file_directories = [\"/tmp/../etc\"]", "is not a list of absolute paths"},
        {"file_directories = [\"//tmp\"]", "is not a list of absolute paths"},
        {"file_min_age = \"infinity\"", "out of range"}};
    for (const auto& [text, expected] : cases) {
        const auto loaded = load("[strays]\n" + std::string(text) + "\n");
        ASSERT_FALSE(loaded) << text;
        EXPECT_NE(loaded.error().message.find(expected), std::string::npos) << loaded.error().message;
    }
}

} // namespace pinfold::test
