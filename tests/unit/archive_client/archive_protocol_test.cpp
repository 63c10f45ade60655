// SPDX-License-Identifier: LGPL-2.1-or-later
#include "archive_client/archive_protocol.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

/// Returns the request without its line break.
std::string lineOfQuery(const ArchiveQuery& query) {
    auto text = encode(query);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    text.pop_back();
    return text;
}

std::string errorOf(const std::string& line) {
    const auto query = decodeArchiveQuery(line);
    EXPECT_FALSE(query) << line;
    EXPECT_TRUE(query || query.error().code == ErrorCode::InvalidArgument);
    return query ? "" : query.error().message;
}

TEST(ArchiveProtocol, keepsEachMemberOfTheFilter) {
    const ArchiveQuery query{.filter = {.key = "slurm.4711",
                                        .uid = 1000,
                                        .since = fromUsec<RealTime>(1'700'000'000'000'001),
                                        .until = fromUsec<RealTime>(1'800'000'000'000'002),
                                        .limit = 10'000,
                                        .result = "out-of-memory",
                                        .scheduler = "slurm",
                                        .leftoversOnly = true,
                                        .outcomes = {JobOutcome::Failed, JobOutcome::Unknown},
                                        .label = LabelFilter{"project", "a=b'; DROP TABLE receipt; --"},
                                        .profiles = true}};
    const auto decoded = decodeArchiveQuery(lineOfQuery(query));
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, query);
}

TEST(ArchiveProtocol, keepsAnEmptyFilterAndALineBreakInAKey) {
    EXPECT_EQ(*decodeArchiveQuery(lineOfQuery({})), ArchiveQuery{});
    const ArchiveQuery query{.filter = {.key = "a\nb"}};
    EXPECT_EQ(*decodeArchiveQuery(lineOfQuery(query)), query);
}

TEST(ArchiveProtocol, asksForAllHostsWithoutAFilter) {
    for (const bool profiles : {false, true}) {
        const ArchiveQuery query{.filter = {.profiles = profiles}, .allHostsOf = "slurm.4711"};
        EXPECT_EQ(*decodeArchiveQuery(lineOfQuery(query)), query);
    }
    EXPECT_NE(errorOf(R"({"filter":{"all_hosts_of":"slurm.1","limit":2}})").find("with all_hosts_of"), std::string::npos);
    EXPECT_FALSE(errorOf(R"({"filter":{"all_hosts_of":"slurm.1","profiles":true,"limit":2}})").empty());
}

TEST(ArchiveProtocol, asksForAReportWithoutAFilter) {
    const ArchiveQuery query{
        .report = ReportPeriod{fromUsec<RealTime>(1'700'000'000'000'001), fromUsec<RealTime>(1'800'000'000'000'002)}};
    EXPECT_EQ(*decodeArchiveQuery(lineOfQuery(query)), query);
    for (const std::string line : {R"({"report":{"since":1}})", R"({"report":{"since":1,"until":2,"uid":0}})",
                                   R"({"report":[1,2]})", R"({"report":{"since":1,"until":"2"}})",
                                   R"({"report":{"since":-1,"until":2}})", R"({"report":{"since":1,"until":2},"filter":{}})"})
        EXPECT_NE(errorOf(line), "") << line;
}

TEST(ArchiveProtocol, keepsATableOfTheReport) {
    const ReportTable table{"cpu_by_user", {"user", "jobs"}, {{"<b>\n\"", "1"}, {std::nullopt, "2"}, {}}};
    auto line = encode(table);
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    line.pop_back();
    EXPECT_FALSE(decodeEnd(line)) << "it is not the last line of an answer";
    const auto decoded = decodeReportTable(line);
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(decoded->name, table.name);
    EXPECT_EQ(decoded->columns, table.columns);
    EXPECT_EQ(decoded->rows, table.rows);
    for (const std::string other :
         {"", "{}", R"({"table":"a","columns":["b"],"rows":[[1]]})", R"({"table":"a","columns":"b","rows":[]})"})
        EXPECT_FALSE(decodeReportTable(other)) << other;
}

TEST(ArchiveProtocol, refusesWhatBelongsToTheHistoryOfOneNode) {
    for (const std::string entry : {R"("before":"x")", R"("after":7)", R"("epoch":"x")"})
        EXPECT_NE(errorOf(R"({"filter":{)" + entry + "}}").find("ask pinfoldd on the node itself"), std::string::npos) << entry;
}

TEST(ArchiveProtocol, refusesWrongValues) {
    for (const std::string entry :
         {R"("key":7)", R"("key":"a\u0000b")", R"("uid":-1)", R"("uid":4294967295)", R"("uid":"0")", R"("limit":0)",
          R"("limit":10001)", R"("limit":1.5)", R"("since":9223372036854775808)", R"("result":"burnt")", R"("scheduler":"a.b")",
          R"("label":"=x")", R"("failed":1)", R"("leftovers":null)", R"("profiles":"x")", R"("sql":"x")"})
        EXPECT_FALSE(errorOf(R"({"filter":{)" + entry + "}}").empty()) << entry;
}

TEST(ArchiveProtocol, refusesWhatIsNotARequest) {
    for (const std::string line :
         {"", "x", "[]", "{}", R"({"filter":[]})", R"({"filter":{},"more":1})", "{\"filter\":{\"key\":\"\xff\"}}"})
        EXPECT_FALSE(errorOf(line).empty()) << line;
    EXPECT_FALSE(errorOf(std::string(16'000, '[')).empty());
}

TEST(ArchiveProtocol, tellsTheLastLineFromAReceipt) {
    EXPECT_FALSE(decodeEnd(R"({"id": "1", "end": true, "error": {}})"));
    ASSERT_TRUE(decodeEnd("{\"end\":true}"));
    EXPECT_TRUE(*decodeEnd("{\"end\":true}"));
    EXPECT_EQ(encodeEnd(Result<void>()), "{\"end\":true}\n");
}

TEST(ArchiveProtocol, keepsAnErrorAndMakesItsMessageSafeForATerminal) {
    auto text = encodeEnd(Error{ErrorCode::Unreachable, "no\x1b[31m answer"});
    text.pop_back();
    const auto end = decodeEnd(text);
    ASSERT_TRUE(end && !*end);
    EXPECT_EQ(end->error().code, ErrorCode::Unreachable);
    EXPECT_EQ(end->error().message, "no\\x1b[31m answer");
}

TEST(ArchiveProtocol, anUnknownErrorIsStillAnError) {
    for (const std::string line : {R"({"error":{"code":"New","message":"x"}})", R"({"error":{}})", R"({"error")"}) {
        const auto end = decodeEnd(line);
        ASSERT_TRUE(end) << line;
        ASSERT_FALSE(*end) << line;
        EXPECT_EQ(end->error().code, ErrorCode::Internal);
    }
}

} // namespace
} // namespace pinfold
