// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests docs/examples/pinfold.toml. The example has each key with its default.
#include "config_fixture.hpp"
#include "model/limit_table.hpp"
#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace pinfold {
namespace {

using ExampleTest = ConfigTest;

std::string exampleText() {
    std::ifstream file(PINFOLD_EXAMPLE);
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Removes the comment sign before every key of the example, and returns the result.
std::string uncommented(const std::string& text) {
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        const auto name = line.find_first_not_of("abcdefghijklmnopqrstuvwxyz_", 1);
        const bool key = line.starts_with('#') && name > 1 && name != line.npos && line.substr(name, 3) == " = ";
        result += line.substr(key ? 1 : 0) + "\n";
    }
    return result;
}

TEST_F(ExampleTest, theExampleChangesNothing) {
    const auto config = loaded(exampleText());
    EXPECT_TRUE(config.warnings.empty());
    EXPECT_EQ(config.config.defaults, ResourceLimits{});
}

TEST_F(ExampleTest, theExampleShowsEveryDefault) {
    ASSERT_FALSE(exampleText().empty());
    const auto config = loaded(uncommented(exampleText()));
    EXPECT_TRUE(config.warnings.empty()) << config.warnings.front();
    const Config standard;
    EXPECT_EQ(config.config.daemon.logLevel, standard.daemon.logLevel);
    EXPECT_EQ(config.config.jobs.killGrace, standard.jobs.killGrace);
    EXPECT_EQ(config.config.jobs.onFailure, standard.jobs.onFailure);
    EXPECT_EQ(config.config.jobs.allowUserJobs, standard.jobs.allowUserJobs);
    EXPECT_EQ(config.config.jobs.unenforcedLimits, standard.jobs.unenforcedLimits);
    EXPECT_EQ(config.config.jobs.maxPerUser, standard.jobs.maxPerUser);
    EXPECT_EQ(config.config.leftovers.reportMax, standard.leftovers.reportMax);
    EXPECT_EQ(config.config.leftovers.commandLines, standard.leftovers.commandLines);
    EXPECT_EQ(config.config.history.maxAge, standard.history.maxAge);
    EXPECT_EQ(config.config.history.maxSize, standard.history.maxSize);
    EXPECT_EQ(config.config.history.patience, standard.history.patience);
    EXPECT_EQ(config.config.history.onFailure, standard.history.onFailure);
    EXPECT_EQ(config.config.archive, ArchiveConfig{});
    EXPECT_TRUE(config.config.gpus.devices.empty());
    EXPECT_EQ(config.config.gpus.environment, standard.gpus.environment);
    EXPECT_EQ(config.config.allocation.hyperThreads, standard.allocation.hyperThreads);
    EXPECT_TRUE(config.config.node.memory);
    EXPECT_TRUE(config.config.node.cpus);
    EXPECT_TRUE(config.config.metrics.textfile);
    EXPECT_EQ(config.config.metrics.perJob, standard.metrics.perJob);
    EXPECT_EQ(config.config.unkillable.after, standard.unkillable.after);
    EXPECT_EQ(config.config.unkillable.action, standard.unkillable.action);
    forEachLimit(config.config.defaults,
                 [](const LimitRow& row, const auto& limit) { EXPECT_TRUE(limit.has_value()) << row.name; });
    for (const char* key :
         {"log_level",      "kill_grace",    "on_failure", "allow_user_jobs", "unenforced_limits", "max_per_user",
          "report_max",     "command_lines", "max_age",    "max_size",        "textfile",          "per_job",
          "devices",        "common",        "ids",        "environment",     "hyper_threads",     "reserve_memory",
          "reserve_cpus",   "after",         "action",     "script",          "max_tasks",         "max_tasks_per_user",
          "omp_num_threads"})
        EXPECT_NE(exampleText().find("\n#" + std::string(key) + " = "), std::string::npos) << key;
}

/// If `texts` contains a key, this key accepts every text as its value.
TEST_F(ExampleTest, everyKeySaysWhichWordsItKnows) {
    const std::set<std::string> texts{"cluster",       "server",       "database", "device_profile", "exempt_users",
                                      "exempt_groups", "exempt_units", "users",    "commands",       "ids"};
    const std::regex table("\\[(\\w+)\\]");
    const std::regex assignment("(\\w+) = (\\[?)(?:\"([^\"]*)\")?.*");
    const std::regex word("[a-z-]+");
    std::istringstream lines(uncommented(exampleText()));
    std::string section;
    std::size_t sets = 0;
    std::smatch found;
    for (std::string line; std::getline(lines, line);) {
        if (std::regex_match(line, found, table))
            section = found[1];
        if (section == "devices" || !std::regex_match(line, found, assignment))
            continue;
        const auto key = found[1].str();
        const auto standard = found[3].str();
        write(mainFile(),
              "[" + section + "]\n" + key + " = " + (found[2].length() ? "[\"no-such-word\"]" : "\"no-such-word\"") + "\n");
        const auto result = load();
        if (result) {
            EXPECT_TRUE(texts.contains(key)) << key << " takes any text";
            continue;
        }
        const auto& message = result.error().message;
        EXPECT_TRUE(std::regex_search(message, std::regex(": use |: write | is not a list of "))) << message;
        if (std::regex_match(standard, word)) {
            EXPECT_NE(message.find(standard), std::string::npos) << "the default of " << key << ": " << message;
            ++sets;
        }
    }
    EXPECT_GT(sets, 10U);
}

TEST_F(ExampleTest, damageNeverThrows) {
    Mutator mutator;
    const auto text = uncommented(exampleText());
    int refused = 0;
    for (int i = 0; i < 3000; ++i) {
        write(mainFile(), mutator.mutate(text));
        const auto result = load();
        if (!result) {
            ++refused;
            EXPECT_EQ(result.error().code, ErrorCode::ConfigInvalid);
            EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
        }
    }
    EXPECT_GT(refused, 300);
}

} // namespace
} // namespace pinfold
