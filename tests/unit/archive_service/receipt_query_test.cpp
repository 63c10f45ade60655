// SPDX-License-Identifier: LGPL-2.1-or-later
// tests/archive/test_service.py runs the statements on a real PostgreSQL.
#include "archive_service/receipt_query.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

constexpr PageSize kSize{.rows = 5, .bytes = 1000};

/// Returns the part of the query between the name of the table and ORDER BY.
std::string whereOf(const SqlQuery& query) {
    const std::string from = "FROM pinfold.receipt";
    const auto begin = query.sql.find(from) + from.size();
    return query.sql.substr(begin, query.sql.find(" ORDER BY", begin) - begin);
}

/// Returns the values of all parameters except the last two, which describe the page's size.
std::vector<std::string> valuesOf(const SqlQuery& query) {
    std::vector<std::string> values;
    for (std::size_t i = 0; i + 2 < query.parameters.size(); ++i)
        values.push_back(query.parameters[i].value_or("NULL"));
    return values;
}

SqlQuery page(const ReceiptFilter& filter) { return pageQuery({.filter = filter}, {}, kSize); }

using Values = std::vector<std::string>;

TEST(ReceiptQuery, hasNoConditionWithoutAFilter) {
    const auto query = page({});
    EXPECT_EQ(whereOf(query), "");
    ASSERT_EQ(query.parameters.size(), 2U);
    EXPECT_EQ(query.parameters[0], "5");
    EXPECT_EQ(query.parameters[1], "1000");
}

TEST(ReceiptQuery, hasAConditionForEachMemberOfTheFilter) {
    struct Row {
        ReceiptFilter filter;
        std::string conditions;
        Values values;
    };
    const std::vector<Row> rows{
        {{.key = "slurm.1"}, " WHERE key = $1", {"slurm.1"}},
        {{.uid = 1000}, " WHERE uid = $1", {"1000"}},
        {{.since = fromUsec<RealTime>(1'795'769'999'000'001)}, " WHERE ended >= $1", {"2026-11-27 08:59:59.000001+00"}},
        {{.until = fromUsec<RealTime>(INT64_MAX)}, " WHERE ended < $1", {"9999-12-31 23:59:59.999999+00"}},
        {{.result = "timeout"}, " WHERE result = $1", {"timeout"}},
        {{.scheduler = "slurm"}, " WHERE starts_with(key, $1)", {"slurm."}},
        {{.leftoversOnly = true}, " WHERE leftovers > 0", {}},
        {{.outcomes = {JobOutcome::Failed, JobOutcome::Unknown}}, " WHERE outcome IN ($1, $2)", {"failed", "unknown"}},
        {{.label = LabelFilter{"project"}}, " WHERE labels ? $1::text", {"project"}},
        {{.label = LabelFilter{"project", "x"}}, " WHERE labels ->> $1::text = $2", {"project", "x"}},
    };
    for (const auto& row : rows) {
        const auto query = page(row.filter);
        EXPECT_EQ(whereOf(query), row.conditions);
        EXPECT_EQ(valuesOf(query), row.values) << row.conditions;
    }
}

TEST(ReceiptQuery, neverContainsAValue) {
    const std::string evil = "x' OR true; DROP TABLE pinfold.receipt; -- $1 {}";
    const ReceiptFilter filter{.key = evil, .result = evil, .scheduler = evil, .label = LabelFilter{evil, evil}};
    const RunOfJob run{evil, evil, evil, evil, evil};
    const auto query = pageQuery({.filter = filter, .run = run}, ReceiptPlace{evil, evil, evil}, kSize);
    EXPECT_EQ(query.sql.find("DROP"), std::string::npos) << query.sql;
    EXPECT_EQ(newestRunQuery(evil, {}).sql.find("DROP"), std::string::npos);
}

TEST(ReceiptQuery, addsTheCallerWhateverTheFilterSays) {
    const auto query = pageQuery({.filter = {.uid = 0}, .visibleTo = 1000}, {}, kSize);
    EXPECT_EQ(whereOf(query), " WHERE uid = $1 AND uid = $2");
    EXPECT_EQ(valuesOf(query), (Values{"1000", "0"}));
    const auto run = newestRunQuery("slurm.1", 1000);
    EXPECT_NE(run.sql.find("WHERE key = $1 AND uid = $2"), std::string::npos) << run.sql;
    EXPECT_EQ(run.parameters, (std::vector<std::optional<std::string>>{"slurm.1", "1000"}));
}

TEST(ReceiptQuery, continuesAfterAPlace) {
    const auto query = pageQuery({}, ReceiptPlace{.ended = "2026-11-27 08:19:59+00", .node = "node1", .id = "i"}, kSize);
    EXPECT_EQ(whereOf(query), " WHERE ended <= $1 AND (ended, node, id) < ($1, $2, $3)");
    EXPECT_EQ(valuesOf(query), (Values{"2026-11-27 08:19:59+00", "node1", "i"}));
}

TEST(ReceiptQuery, readsProfilesOnlyIfTheyAreWanted) {
    EXPECT_EQ(page({}).sql.find("pinfold.profile"), std::string::npos);
    const auto query = pageQuery({.filter = {.profiles = true}, .visibleTo = 1000}, {}, kSize);
    EXPECT_NE(query.sql.find("pinfold.profile"), std::string::npos);
    EXPECT_EQ(whereOf(query), " WHERE uid = $1") << "a profile is visible to those to whom its receipt is";
}

TEST(ReceiptQuery, knowsTheKeysThatEachNodeGives) {
    EXPECT_TRUE(isKeyOfOneNode("manual.1"));
    EXPECT_FALSE(isKeyOfOneNode("manual.build")); // users choose the key manual.build, so jobs on several hosts can have this key
    EXPECT_FALSE(isKeyOfOneNode("user.1"));
    EXPECT_FALSE(isKeyOfOneNode("slurm.1"));
}

} // namespace
} // namespace pinfold
