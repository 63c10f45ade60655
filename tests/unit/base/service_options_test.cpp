// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/service_options.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

using Words = std::vector<std::string>;

class ServiceCommandLine : public testing::Test {
protected:
    std::variant<ServiceOptions, EarlyExit> parse(Words words) {
        words.insert(words.begin(), "pinfold-x");
        std::vector<char*> argv;
        for (auto& word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        const ServiceProgram program{.name = "pinfold-x",
                                     .usage = "Usage: pinfold-x\n",
                                     .options = {{"color",
                                                  [this](const std::string& text) -> Result<void> {
                                                      if (text == "red")
                                                          return Error{ErrorCode::InvalidArgument, "'red' is not valid"};
                                                      color = text;
                                                      return {};
                                                  }},
                                                 {.name = "bright",
                                                  .set = [this](const std::string& text) -> Result<void> {
                                                      bright = text.empty();
                                                      return {};
                                                  },
                                                  .takesValue = false}}};
        return parseServiceOptions(static_cast<int>(words.size()), argv.data(), program);
    }

    EarlyExit early(const Words& words) {
        const auto parsed = parse(words);
        const auto* exit = std::get_if<EarlyExit>(&parsed);
        return exit ? *exit : EarlyExit{-1, ""};
    }

    std::string color;
    bool bright = false;
};

TEST_F(ServiceCommandLine, everyServiceHasARoot) {
    EXPECT_EQ(std::get<ServiceOptions>(parse({})).root, "/");
    EXPECT_EQ(std::get<ServiceOptions>(parse({"--root", "/tmp/x"})).root, "/tmp/x");
    EXPECT_EQ(std::get<ServiceOptions>(parse({"--color=blue", "--root=/tmp/y"})).root, "/tmp/y");
    EXPECT_EQ(color, "blue");
}

TEST_F(ServiceCommandLine, anOptionCanHaveNoValue) {
    EXPECT_EQ(std::get<ServiceOptions>(parse({"--bright", "--root", "/tmp/x"})).root, "/tmp/x");
    EXPECT_TRUE(bright);
    EXPECT_EQ(early({"--bright", "x"}).status, 2);
}

TEST_F(ServiceCommandLine, helpAndVersionEndTheProgram) {
    EXPECT_EQ(early({"--root", "/tmp/x", "--help"}).text, "Usage: pinfold-x\n");
    EXPECT_EQ(early({"--help"}).status, 0);
    const auto version = early({"--version"});
    EXPECT_EQ(version.status, 0);
    EXPECT_TRUE(version.text.starts_with("pinfold-x ") && version.text.ends_with("\n")) << version.text;
    EXPECT_GT(version.text.size(), std::string("pinfold-x \n").size());
}

TEST_F(ServiceCommandLine, mistakesAreOneLineThatNamesTheHelp) {
    const std::pair<Words, std::string> cases[] = {
        {{"--rot", "/tmp"}, "unknown option or missing value: '--rot'"},
        {{"--root"}, "unknown option or missing value: '--root'"},
        {{"-x\n"}, "unknown option or missing value: '-x\\x0a'"},
        {{"--color", "red"}, "--color: 'red' is not valid"},
        {{"sta\nrt"}, "unexpected argument 'sta\\x0art'"},
        {{"--", "start"}, "unexpected argument 'start'"},
    };
    for (const auto& [words, message] : cases) {
        const auto exit = early(words);
        EXPECT_EQ(exit.status, 2) << words.front();
        EXPECT_EQ(exit.text, "pinfold-x: " + message + "; see pinfold-x --help\n");
    }
}

} // namespace
} // namespace pinfold
