// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/table.hpp"
#include "cli/top_rows.hpp"
#include "cli/top_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

namespace pinfold {
namespace {

constexpr RealTime kStart(1'700'000'000s);
constexpr std::uint64_t kMiB = 1 << 20;

TopJob job(const std::string& key, RealTime at, Microseconds cpu) {
    TopJob job;
    job.info.key = key;
    job.info.state = ShownState::Running;
    job.info.created = kStart;
    job.at = at;
    job.usage.cpuUser = cpu / 2;
    job.usage.cpuSystem = cpu - cpu / 2;
    return job;
}

TopRow named(const std::string& key) {
    TopRow row;
    row.job.key = key;
    row.job.state = ShownState::Running;
    return row;
}

std::string order(std::vector<TopRow> rows, const std::string& name) {
    sortRows(rows, name);
    std::string keys;
    for (const auto& row : rows)
        keys += row.job.key;
    return keys;
}

std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        all.push_back(line);
    return all;
}

TEST(TopRows, theFirstLookIsSinceTheJobsStart) {
    auto now = job("a.1", kStart + 10s, 5s);
    now.usage.ioRead = 100;
    now.usage.ioWritten = 0;
    const auto row = topRows({}, {{}, {now}}).front();
    EXPECT_DOUBLE_EQ(*row.cpu, 50);
    EXPECT_EQ(row.readRate, 10U);
    EXPECT_EQ(row.writeRate, 0U);
    EXPECT_EQ(row.age, 10s);
    EXPECT_EQ(row.cpuTime, 5s);
    EXPECT_EQ(row.cpuOfAllowed, std::nullopt) << "nobody knows how many CPUs it may use";
}

TEST(TopRows, laterOnesAreSinceTheLookBefore) {
    const TopSample before{{}, {job("a.1", kStart + 10s, 5s)}};
    auto now = job("a.1", kStart + 12s, 9s);
    now.bounds.cpus = 4;
    const auto row = topRows(before, {{}, {now}}).front();
    EXPECT_DOUBLE_EQ(*row.cpu, 200);
    EXPECT_DOUBLE_EQ(*row.cpuOfAllowed, 50);
}

TEST(TopRows, aLaterJobOfTheSameKeyIsAnotherOne) {
    const TopSample before{{}, {job("a.1", kStart + 10s, 5s)}};
    auto now = job("a.1", kStart + 12s, 500ms);
    now.info.created = kStart + 11s;
    EXPECT_DOUBLE_EQ(*topRows(before, {{}, {now}}).front().cpu, 50);
}

TEST(TopRows, theUnknownIsNotZero) {
    const TopSample before{{}, {job("a.1", kStart + 10s, 5s)}};
    TopJob now = job("a.1", kStart + 12s, 0s);
    now.usage = {};
    const auto row = topRows(before, {{}, {now}}).front();
    EXPECT_FALSE(row.cpu || row.cpuTime || row.memory || row.readRate || row.tasks);
    const auto putBack = job("a.1", kStart + 9s, 6s);
    EXPECT_EQ(topRows(before, {{}, {putBack}}).front().cpu, std::nullopt) << "the clock was put back";
}

TEST(TopRows, sortedByEveryName) {
    auto a = named("a"), b = named("b"), c = named("c"), d = named("d");
    b.cpu = 1;
    c.cpu = 2;
    a.memory = 1;
    d.memory = 2;
    a.readRate = 5;
    a.writeRate = 0;
    c.readRate = 3;
    c.writeRate = 3;
    b.tasks = 7;
    d.cpuTime = 9us;
    const std::vector<TopRow> rows{d, c, b, a};
    EXPECT_EQ(order(rows, "cpu"), "cbad");
    EXPECT_EQ(order(rows, "memory"), "dabc");
    EXPECT_EQ(order(rows, "io"), "cabd");
    EXPECT_EQ(order(rows, "tasks"), "bacd");
    EXPECT_EQ(order(rows, "time"), "dabc");
    EXPECT_EQ(order(rows, "key"), "abcd");
    for (const auto& name : sortNames())
        EXPECT_EQ(order(rows, name).size(), 4U) << name;
}

TopRow full() {
    auto row = named("sge.4711");
    row.job.uid = 0;
    row.job.state = ShownState::Suspended;
    row.age = 3661s;
    row.cpu = 199.96;
    row.cpuOfAllowed = 50;
    row.cpuTime = 90s;
    row.memory = 512 * kMiB;
    row.memoryMax = 1024 * kMiB;
    row.cache = 30 * kMiB;
    row.memoryPeak = 600 * kMiB;
    row.readRate = 1536;
    row.writeRate = 0;
    row.tasks = 12;
    return row;
}

TEST(TopText, everythingThatIsKnown) {
    EXPECT_EQ(topText({full(), named("sge.1")}, kStart, std::nullopt, {.sort = "cpu", .amounts = {}}),
              "2023-11-14T22:13:20Z  2 jobs, 1 running, 1 suspended; CPU 200.0%, memory 512M; by cpu\n"
              "KEY       USER  STATE       CPU%  USED%      TIME  MEMORY  LIMIT  CACHE  PEAK  READ/S  WRITE/S  TASKS      AGE\n"
              "sge.4711  root  suspended  200.0   50.0  1min 30s    512M     1G    30M  600M    1.5K        0     12  1:01:01\n"
              "sge.1     root  running        -      -         -       -      -      -     -       -        -      -        0\n");
}

TEST(TopText, asPairsThereAreRowsOnly) {
    const auto text = lines(topText({named("sge.1"), full()}, kStart, Error{}, {.sort = "cpu", .pairs = true, .amounts = {}}));
    ASSERT_EQ(text.size(), 2U);
    EXPECT_TRUE(text[1].starts_with("KEY=\"sge.4711\" USER=\"root\" STATE=\"suspended\" CPU_PCT=\"200.0\" ")) << text[1];
}

TEST(TopText, fitsATerminalOfAnySize) {
    std::vector<TopRow> rows(50, full());
    rows.front().job.key = "manual." + std::string(200, 'x');
    for (const std::size_t width : {1, 10, 40, 80, 100, 300})
        for (const std::size_t height : {1, 2, 3, 24, 100}) {
            const auto text = lines(topText(rows, kStart, Error{ErrorCode::Unreachable, std::string(300, 'e')},
                                            {.sort = "cpu", .amounts = {}, .width = width, .height = height}));
            for (const auto& line : text)
                EXPECT_LE(displayWidth(line), width) << line;
            EXPECT_LE(text.size(), height) << width;
        }
    rows.erase(rows.begin());
    const auto narrow = topText(rows, kStart, std::nullopt, {.sort = "cpu", .amounts = {}, .width = 80, .height = 24});
    EXPECT_NE(narrow.find("MEMORY"), std::string::npos) << "what matters most stays";
    EXPECT_EQ(narrow.find("PEAK"), std::string::npos);
}

TEST(TopText, saysThatTheListIsOld) {
    const auto text =
        topText({}, kStart, Error{ErrorCode::Unreachable, "pinfoldd is not reachable"}, {.sort = "cpu", .amounts = {}});
    EXPECT_EQ(lines(text)[1], "this list is old: pinfoldd is not reachable");
}

TEST(TopText, withoutALegendThereAreJobsOnly) {
    EXPECT_EQ(lines(topText({full()}, kStart, std::nullopt, {.sort = "cpu", .legend = false, .amounts = {}})).size(), 1U);
}

TEST(TopJson, isNullWhereUnknown) {
    const auto document = nlohmann::json::parse(jsonTop({full(), named("sge.1")}, kStart));
    EXPECT_EQ(document["schema"], 1);
    EXPECT_EQ(document["at_iso"], "2023-11-14T22:13:20Z");
    EXPECT_EQ(document["jobs"][0]["memory_max"], 1024 * kMiB);
    EXPECT_DOUBLE_EQ(document["jobs"][0]["cpu_percent_of_allowed"], 50);
    EXPECT_TRUE(document["jobs"][1]["cpu_percent"].is_null());
    EXPECT_TRUE(document["jobs"][1]["io_read_rate"].is_null());
}

} // namespace
} // namespace pinfold
