// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/journal_lines.hpp"
#include "time_zone.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pinfold {
namespace {

const Terminal kPlain{TerminalOptions{.color = ColorMode::Never}};
const Terminal kColored{TerminalOptions{.color = ColorMode::Always}};

JournalEntry entry(std::string message, std::string priority = "6") {
    useTimeZone("CET-1");
    return {.cursor = "s=1;i=2",
            .realTime = fromUsec<RealTime>(1'700'000'000'999'999),
            .monotonic = fromUsec<MonotonicTime>(42),
            .fields = {{"PRIORITY", std::move(priority)},
                       {"_HOSTNAME", "node1"},
                       {"SYSLOG_IDENTIFIER", "pinfoldd"},
                       {"_COMM", "pinfoldd-thread"},
                       {"_PID", "812"},
                       {"MESSAGE", std::move(message)}}};
}

TEST(JournalLine, asJournalctlPrintsIt) {
    EXPECT_EQ(journalLine(entry("job sge.1 ended"), kPlain), "2023-11-14T23:13:20+0100 node1 pinfoldd[812]: job sge.1 ended\n");
    EXPECT_EQ(journalLine({.cursor = "", .fields = {{"_COMM", "sh"}, {"MESSAGE", "x"}}}, kPlain),
              "1970-01-01T01:00:00+0100  sh: x\n");
}

TEST(JournalLine, hasTheTimeAtWhichJournaldGotTheEntry) {
    auto late = entry("x");
    late.fields.emplace_back("_SOURCE_REALTIME_TIMESTAMP", "1699999990000000");
    EXPECT_EQ(journalLine(late, kPlain), "2023-11-14T23:13:10+0100 node1 pinfoldd[812]: x\n");
    for (const auto* wrong : {"", "0", "yesterday", "36028797018963968"}) {
        late.fields.back().second = wrong;
        EXPECT_EQ(journalLine(late, kPlain), "2023-11-14T23:13:20+0100 node1 pinfoldd[812]: x\n") << wrong;
    }
}

TEST(JournalLine, severalLinesBeginBelowEachOther) {
    EXPECT_EQ(journalLine(entry("one\ntwo\n"), kPlain),
              "2023-11-14T23:13:20+0100 node1 pinfoldd[812]: one\n" + std::string(46, ' ') + "two\n");
}

TEST(JournalLine, doesNotHarmTheTerminal) {
    EXPECT_NE(journalLine(entry("\x1b[2J\xff\x9b, as \\x1b said\tonce"), kPlain)
                  .find("\\x1b[2J\\xff\\x9b, as \\x1b said        once\n"),
              std::string::npos)
        << "what its writer has escaped is not escaped twice";
    auto hostile = entry("x");
    hostile.fields[2].second = "a\nb";
    EXPECT_NE(journalLine(hostile, kPlain).find(" a\\x0ab[812]: x\n"), std::string::npos);
}

TEST(JournalLine, whatIsBadStandsOut) {
    EXPECT_NE(journalLine(entry("x", "3"), kColored).find(": \x1b[31mx\x1b[0m\n"), std::string::npos);
    EXPECT_NE(journalLine(entry("x", "4"), kColored).find(": \x1b[33mx\x1b[0m\n"), std::string::npos);
    EXPECT_NE(journalLine(entry("x", "5"), kColored).find(": x\n"), std::string::npos);
    EXPECT_NE(journalLine(entry("x", "10"), kColored).find(": x\n"), std::string::npos);
}

TEST(JournalJson, asJournalctlPrintsIt) {
    auto told = entry("two\nlines");
    told.fields.emplace_back("_PID", "813");
    told.fields.emplace_back("BINARY", std::string("\0\xff", 2));
    const auto line = jsonJournalEntry(told);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["__CURSOR"], "s=1;i=2");
    EXPECT_EQ(json["__REALTIME_TIMESTAMP"], "1700000000999999");
    EXPECT_EQ(json["__MONOTONIC_TIMESTAMP"], "42");
    EXPECT_EQ(json["MESSAGE"], "two\nlines");
    EXPECT_EQ(json["_PID"], (std::vector<std::string>{"812", "813"}));
    EXPECT_EQ(json["BINARY"], (std::vector<int>{0, 255}));
}

} // namespace
} // namespace pinfold
