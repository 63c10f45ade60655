// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/page.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace pinfold {
namespace {

Dict text(std::size_t bytes) { return {{"text", sdbus::Variant(std::string(bytes, 'x'))}}; }

Dict numbers(std::size_t count) {
    Dict dict;
    for (std::size_t i = 0; i < count; ++i)
        dict.emplace(std::to_string(i), sdbus::Variant(std::uint64_t{i}));
    return dict;
}

bool saysMore(const std::vector<Dict>& entries) { return !entries.empty() && entries.back().contains("more"); }

TEST(Page, aShortListIsWhole) {
    Page page;
    EXPECT_TRUE(page.add(text(10)));
    EXPECT_TRUE(page.add(numbers(60)));
    const auto entries = std::move(page).take(false);
    EXPECT_EQ(entries.size(), 2U);
    EXPECT_FALSE(saysMore(entries));
    EXPECT_FALSE(saysMore(Page().take(true))) << "there is no entry that could";
}

TEST(Page, moreThanWasOfferedIsTold) {
    Page page;
    page.add(text(10));
    EXPECT_TRUE(saysMore(std::move(page).take(true)));
}

TEST(Page, isFullByBytes) {
    Page page;
    std::size_t taken = 0;
    while (page.add(text(100'000)))
        ++taken;
    EXPECT_LE(taken * 100'000, Page::kMostBytes);
    EXPECT_GE((taken + 1) * 101'000, Page::kMostBytes);
    const auto entries = std::move(page).take(false);
    EXPECT_EQ(entries.size(), taken);
    EXPECT_TRUE(saysMore(entries));
}

TEST(Page, labelsCount) {
    const std::map<std::string, std::string> labels{{"a", std::string(1000, 'x')}, {"b", std::string(1000, 'x')}};
    EXPECT_GE(bytesOf({{"labels", sdbus::Variant(labels)}}), 2000U);
}

TEST(Page, bytesCount) { EXPECT_GE(bytesOf({{"profile", sdbus::Variant(Bytes(3000, 7))}}), 3000U); }

TEST(Page, isFullByValues) {
    Page page;
    std::size_t taken = 0;
    while (page.add(numbers(60)))
        ++taken;
    EXPECT_EQ(taken, Page::kMostValues / 60);
}

TEST(Page, hasRoomForOneEntryOfWhateverSize) {
    Page page;
    EXPECT_TRUE(page.add(text(2 * Page::kMostBytes)));
    EXPECT_FALSE(page.add(text(1)));
    EXPECT_EQ(std::move(page).take(false).size(), 1U);
}

TEST(Page, countsListsOfTextsAndOfDisks) {
    const std::vector<std::string> commands(50, std::string(160, 'x'));
    EXPECT_GT(bytesOf(Dict{{"commands", sdbus::Variant(commands)}}), 8000U);
    EXPECT_LT(bytesOf(Dict{{"commands", sdbus::Variant(commands)}}), 10'000U);
    const std::vector<DeviceIoStruct> disks(100, DeviceIoStruct("8:0", 1, 2, 3, 4));
    EXPECT_GT(bytesOf(Dict{{"disks", sdbus::Variant(disks)}}), 4000U);
}

} // namespace
} // namespace pinfold
