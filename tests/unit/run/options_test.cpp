// SPDX-License-Identifier: LGPL-2.1-or-later
#include "run/options.hpp"

#include <gtest/gtest.h>

#include <getopt.h>

#include <sstream>
#include <string>
#include <vector>

namespace pinfold {
namespace {

struct Parsed {
    explicit Parsed(std::vector<std::string> argWords) : words(std::move(argWords)) {
        for (auto& word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        optind = 0; // if optind is 0, getopt_long(3) of glibc begins at the first word
        options.emplace(parseRunOptions(static_cast<int>(words.size()), argv.data()));
    }
    std::vector<std::string> command() const {
        std::vector<std::string> all;
        for (char** word = (*options)->command; word && *word; ++word)
            all.emplace_back(*word);
        return all;
    }
    std::vector<std::string> words;
    std::vector<char*> argv;
    std::optional<Result<RunOptions>> options;
};

using Words = std::vector<std::string>;

TEST(RunOptions, limitsAndCommand) {
    const Parsed parsed({"/usr/bin/pinfold-run", "--job", "sge.1", "--memory-max", "1G", "--cpu-quota=150%", "--allowed-cpus",
                         "0-3", "--exec", "--run-time-max", "1h", "--", "sh", "-c", "x"});
    ASSERT_TRUE(*parsed.options) << parsed.options->error().message;
    const auto& options = **parsed.options;
    EXPECT_EQ(options.key, "sge.1");
    EXPECT_TRUE(options.inPlace);
    EXPECT_EQ(options.limits.memoryMax, 1U << 30);
    EXPECT_EQ(options.limits.cpuQuota, 1'500'000U);
    EXPECT_EQ(options.limits.allowedCpus->toString(), "0-3");
    EXPECT_EQ(options.limits.runTimeMax, 3'600'000'000U);
    EXPECT_EQ(parsed.command(), (Words{"sh", "-c", "x"}));
}

TEST(RunOptions, labelsAreOfANewJob) {
    const Parsed parsed({"pinfold-run", "--label", "project=x", "--label=empty=", "--", "true"});
    ASSERT_TRUE(*parsed.options) << parsed.options->error().message;
    EXPECT_EQ(wrappedCommand(**parsed.options).request.identity.labels, (Labels{{"empty", ""}, {"project", "x"}}));
    for (const char* wrong : {"project", "a b=x", "=x"}) {
        const Parsed refused({"pinfold-run", "--label", wrong, "--", "true"});
        ASSERT_FALSE(*refused.options) << wrong;
        EXPECT_EQ(refused.options->error().message.find("--label: "), 0U);
    }
    const Parsed task({"pinfold-run", "--job", "sge.1", "--task", "--label", "a=b", "--", "true"});
    ASSERT_FALSE(*task.options);
    EXPECT_NE(task.options->error().message.find("--label"), std::string::npos);
}

TEST(RunOptions, optionsEndAtTheCommand) {
    const Parsed parsed({"pinfold-run", "make", "--job", "4"});
    ASSERT_TRUE(*parsed.options);
    EXPECT_EQ((*parsed.options)->key, "");
    EXPECT_EQ(parsed.command(), (Words{"make", "--job", "4"}));
}

TEST(RunOptions, underAnotherNameNothingIsAnOption) {
    for (const char* name : {"job_starter", "/opt/site/starter", "pinfold-run-batch"}) {
        const Parsed parsed({name, "--help", "--job", "x"});
        ASSERT_TRUE(*parsed.options);
        EXPECT_FALSE((*parsed.options)->help);
        EXPECT_EQ(parsed.command(), (Words{"--help", "--job", "x"}));
    }
}

TEST(RunOptions, aTaskAndABatchScriptAreOfAJobThatIsThere) {
    const Parsed task({"pinfold-run", "--job", "sge.1", "--task", "--", "x"});
    ASSERT_TRUE(*task.options);
    EXPECT_EQ(wrappedCommand(**task.options).request.role, WrapperRole::Task);
    const Parsed batch({"pinfold-run", "--batch", "--exec", "--job", "sge.1", "x"});
    ASSERT_TRUE(*batch.options);
    EXPECT_EQ(wrappedCommand(**batch.options).request.role, WrapperRole::Batch);
    EXPECT_TRUE((*batch.options)->inPlace);
}

TEST(RunOptions, mistakesNameTheWord) {
    for (const auto& [words, named] :
         std::vector<std::pair<Words, std::string>>{{{"pinfold-run"}, "no command"},
                                                    {{"starter"}, "no command"},
                                                    {{"pinfold-run", "--nope", "x"}, "'--nope'"},
                                                    {{"pinfold-run", "--memory-mix", "1", "x"}, "did you mean '--memory-max'"},
                                                    {{"pinfold-run", "--job"}, "'--job' needs a value"},
                                                    {{"pinfold-run", "--tasks-max", "-1", "x"}, "'-1'"},
                                                    {{"pinfold-run", "--task", "x"}, "--job KEY"},
                                                    {{"pinfold-run", "--batch", "--job", "a.1", "--cpus", "1", "x"}, "no limits"},
                                                    {{"pinfold-run", "--memory-max", "x\ny", "x"}, "x\\x0ay"}}) {
        const Parsed parsed(words);
        ASSERT_FALSE(*parsed.options) << named;
        EXPECT_NE(parsed.options->error().message.find(named), std::string::npos) << parsed.options->error().message;
    }
}

TEST(RunOptions, theHelpHasEveryOptionAndFitsATerminal) {
    RunOptions options;
    for (const auto& option : runOptions(options))
        EXPECT_NE(runUsage().find(option.name), std::string::npos) << option.name;
    std::istringstream lines(runUsage());
    for (std::string line; std::getline(lines, line);)
        EXPECT_LE(line.size(), 80U) << line;
}

} // namespace
} // namespace pinfold
