// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/receipt.hpp"

#include "model/receipt_json.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace pinfold::test {
namespace {

using Commands = std::vector<std::string>;

Commands bounded(Commands commands) {
    Leftovers leftovers{.count = static_cast<std::uint32_t>(commands.size()), .cpu = {}, .commands = std::move(commands)};
    leftovers.boundCommands();
    return leftovers.commands;
}

std::size_t bytesOf(const Commands& commands) {
    return std::accumulate(commands.begin(), commands.end(), std::size_t{0},
                           [](std::size_t sum, const std::string& command) { return sum + command.size(); });
}

TEST(LeftoverCommands, usualOnesStayAsTheyAre) {
    EXPECT_EQ(bounded({}), Commands{});
    const Commands usual(50, "/usr/bin/python3 -m worker --rank 17 --of 64 /scratch/alice/run-2031/input.toml --verbose");
    EXPECT_EQ(bounded(usual), usual);
    const Commands one{std::string(4096, 'x')};
    EXPECT_EQ(bounded(one), one);
}

TEST(LeftoverCommands, onlyTheLongestAreCutAndMarked) {
    const auto kept = bounded({"sleep 1", std::string(4096, 'x'), "[kept]", std::string(4096, 'y'), std::string(3000, 'z')});
    EXPECT_EQ(kept[0], "sleep 1");
    EXPECT_EQ(kept[2], "[kept]");
    for (const auto i : {1, 3, 4}) {
        EXPECT_TRUE(kept[i].ends_with("…"));
        EXPECT_GT(kept[i].size(), 2700U);
    }
    EXPECT_LE(bytesOf(kept), Leftovers::kMostCommandBytes);
    EXPECT_EQ(bounded(kept), kept) << "cut once, cut for good";
}

TEST(LeftoverCommands, noCharacterIsCutInTwo) {
    std::string umlauts;
    while (umlauts.size() < 4096)
        umlauts += "ü";
    for (const auto& command : bounded(Commands(50, umlauts + "x"))) {
        ASSERT_TRUE(command.ends_with("ü…"));
        EXPECT_EQ((command.size() - 3) % 2, 0U);
    }
}

TEST(LeftoverCommands, aThousandOfThemAreNotNamed) {
    const auto kept = bounded(Commands(10'000, std::string(4096, '"')));
    EXPECT_EQ(kept.size(), Leftovers::kMostCommands);
    EXPECT_LE(bytesOf(kept), Leftovers::kMostCommandBytes);
    EXPECT_TRUE(kept.front().ends_with("\"…"));
}

TEST(LeftoverCommands, anEarlierPinfoldsReceiptIsBoundedWhenItIsRead) {
    Receipt receipt;
    receipt.leftovers = {.count = 50, .cpu = {}, .commands = Commands(50, std::string(4096, '"'))};
    const auto text = encode(receipt);
    ASSERT_GT(text.size(), 400'000U);
    const auto read = decodeReceipt(text);
    ASSERT_TRUE(read);
    EXPECT_EQ(read->leftovers.count, 50U);
    EXPECT_EQ(read->leftovers.commands.size(), 50U);
    EXPECT_LT(encode(*read).size(), 20'000U);
}

} // namespace
} // namespace pinfold::test
