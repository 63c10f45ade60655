// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/archive_status.hpp"

#include "golden_samples.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

std::string page(std::vector<ArchiveNode> nodes) {
    return archiveStatusPage({.now = golden::kNow, .nodes = std::move(nodes)}, {.width = 1000, .now = golden::kNow});
}

ArchiveNode archiveNode(const std::string& name) {
    auto made = golden::archive().nodes.front();
    made.node = name;
    return made;
}

TEST(ArchiveStatus, isCompleteIfAllNodesAre) {
    EXPECT_FALSE(ArchiveStatus{}.complete());
    EXPECT_TRUE((ArchiveStatus{.now = golden::kNow, .nodes = {archiveNode("a"), archiveNode("b")}}.complete()));
    EXPECT_FALSE(golden::archive().complete());
}

TEST(ArchiveStatus, theNodeThatWasCompleteFirstDecides) {
    auto earlier = archiveNode("b");
    earlier.complete = golden::kNow - 10min;
    const auto text = page({archiveNode("a"), earlier});
    EXPECT_EQ(text, page({earlier, archiveNode("a")}));
    EXPECT_EQ(text.substr(0, 26), "2 nodes: complete up to 11");
    EXPECT_NE(text, page({archiveNode("a"), archiveNode("b")}));
}

TEST(ArchiveStatus, silenceBeginsAfterAQuarterOfAnHour) {
    auto late = archiveNode("a");
    late.seen = golden::kNow - kArchiveSilence;
    late.complete = late.seen;
    EXPECT_EQ(archiveTrouble(late, golden::kNow, {}), "");
    late.seen -= 1s;
    EXPECT_EQ(archiveTrouble(late, golden::kNow, {}).substr(0, 13), "silent since ");
    late.seen = golden::kNow + 1h; // the server's clock was set back
    late.complete = late.seen;
    EXPECT_EQ(archiveTrouble(late, golden::kNow, {}), "");
}

TEST(ArchiveStatus, aSentenceNamesAFewNodesOnly) {
    std::vector<ArchiveNode> nodes;
    for (int i = 1; i <= 20; ++i) {
        nodes.push_back(archiveNode("n" + std::to_string(i)));
        nodes.back().missing = 1;
    }
    const auto text = page(nodes);
    const auto sentence = text.substr(0, text.find('\n'));
    EXPECT_NE(sentence.find("20 nodes: the archive is not complete: n1 (1 receipt missing), n2 "), sentence.npos);
    EXPECT_NE(sentence.find(", n5 (1 receipt missing) and 15 more nodes"), sentence.npos);
    EXPECT_EQ(sentence.find("n6"), sentence.npos);
    nodes.resize(6);
    EXPECT_NE(page(nodes).find(" and n6 (1 receipt missing)\n"), std::string::npos);
}

TEST(ArchiveStatus, aNodeCannotWriteToTheTerminal) { EXPECT_EQ(page({archiveNode("a\x1b[2J")}).find('\x1b'), std::string::npos); }

} // namespace
} // namespace pinfold
