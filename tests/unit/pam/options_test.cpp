// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pam/options.hpp"
#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace pinfold::pam {
namespace {

PamOptions parse(const std::vector<const char*>& arguments) { return parsePamOptions(arguments); }

TEST(PamOptions, nobodyIsLetInByDefault) {
    const auto options = parse({});
    EXPECT_TRUE(options.admitGroups.empty());
    EXPECT_FALSE(options.admitOnFailure);
    EXPECT_FALSE(options.denySeveral);
    EXPECT_EQ(options.wrong, "");
}

TEST(PamOptions, areTakenByName) {
    const auto options = parse({"admit_groups=wheel,staff", "on_failure=admit", "several=deny"});
    EXPECT_EQ(options.admitGroups, (std::vector<std::string>{"wheel", "staff"}));
    EXPECT_TRUE(options.admitOnFailure);
    EXPECT_TRUE(options.denySeveral);
    EXPECT_EQ(options.wrong, "");
    EXPECT_EQ(parse({"on_failure=refuse", "several=newest"}).wrong, "");
}

TEST(PamOptions, whatIsWrongIsNamedAndTheRestCounts) {
    for (const char* argument :
         {"", "debug", "admit_groups", "admit_groups=", "admit_groups=a,,b", "admit_groups=a,", "on_failure",
          "on_failure=", "on_failure=Admit", "on_failure=admit ", "several=oldest", "On_failure=admit", " several=deny"}) {
        const auto options = parse({argument, "admit_groups=staff", "on_failure=frefuse"});
        EXPECT_TRUE(options.wrong.starts_with("'" + std::string(argument) + "' is not valid: use ")) << options.wrong;
        EXPECT_EQ(options.admitGroups, std::vector<std::string>{"staff"});
        EXPECT_FALSE(options.admitOnFailure);
    }
    EXPECT_EQ(parse({"a\nb"}).wrong.find('\n'), std::string::npos);
}

TEST(PamOptions, aMisspeltOneNeverOpensTheDoor) {
    Mutator mutator;
    for (int i = 0; i < 20'000; ++i) {
        const auto argument = mutator.mutate("on_failure=admit");
        const auto options = parse({argument.c_str()});
        EXPECT_EQ(options.admitOnFailure, std::string_view(argument.c_str()) == "on_failure=admit") << argument;
    }
}

} // namespace
} // namespace pinfold::pam
