// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cli/json.hpp"
#include "cli/table.hpp"
#include "cli/top_history.hpp"
#include "cli/top_rows.hpp"
#include "cli/top_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <sstream>

namespace pinfold {
namespace {

constexpr RealTime kStart(1'700'000'000s);
constexpr std::uint64_t kMiB = 1 << 20;

TopJob topJob(const std::string& key, RealTime at, Microseconds cpu) {
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
    auto now = topJob("a.1", kStart + 10s, 5s);
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
    const TopSample before{{}, {topJob("a.1", kStart + 10s, 5s)}};
    auto now = topJob("a.1", kStart + 12s, 9s);
    now.bounds.cpus = 4;
    const auto row = topRows(before, {{}, {now}}).front();
    EXPECT_DOUBLE_EQ(*row.cpu, 200);
    EXPECT_DOUBLE_EQ(*row.cpuOfAllowed, 50);
}

TEST(TopRows, aLaterJobOfTheSameKeyIsAnotherOne) {
    const TopSample before{{}, {topJob("a.1", kStart + 10s, 5s)}};
    auto now = topJob("a.1", kStart + 12s, 500ms);
    now.info.created = kStart + 11s;
    EXPECT_DOUBLE_EQ(*topRows(before, {{}, {now}}).front().cpu, 50);
}

TEST(TopRows, theUnknownIsNotZero) {
    const TopSample before{{}, {topJob("a.1", kStart + 10s, 5s)}};
    TopJob now = topJob("a.1", kStart + 12s, 0s);
    now.usage = {};
    const auto row = topRows(before, {{}, {now}}).front();
    EXPECT_FALSE(row.cpu || row.cpuTime || row.memory || row.readRate || row.tasks);
    const auto putBack = topJob("a.1", kStart + 9s, 6s);
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
    EXPECT_EQ(order(rows, "threads"), "bacd");
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
    row.memoryNeed = 580 * kMiB;
    row.memoryMax = 1024 * kMiB;
    row.cache = 30 * kMiB;
    row.memoryPeak = 600 * kMiB;
    row.readRate = 1536;
    row.writeRate = 0;
    row.tasks = 12;
    return row;
}

TEST(TopText, everythingThatIsKnown) {
    EXPECT_EQ(
        topText({full(), named("sge.1")}, kStart, std::nullopt, {.sort = "cpu", .amounts = {}}),
        "2023-11-14T22:13:20Z  2 jobs, 1 running, 1 suspended; CPU 200.0%, memory 512M; by cpu\n"
        "KEY       USER  STATE       CPU%  USED%      TIME  MEMORY  NEED  LIMIT  CACHE  READ/S  WRITE/S  THREADS      AGE\n"
        "sge.4711  root  suspended  200.0   50.0  1min 30s    512M  580M     1G    30M    1.5K        0       12  1:01:01\n"
        "sge.1     root  running        -      -         -       -     -      -      -       -        -        -        0\n");
}

TEST(TopText, asPairsThereAreRowsOnly) {
    const auto text = lines(topText({named("sge.1"), full()}, kStart, Error{}, {.sort = "cpu", .pairs = true, .amounts = {}}));
    ASSERT_EQ(text.size(), 2U);
    EXPECT_TRUE(text[1].starts_with("KEY=\"sge.4711\" USER=\"root\" STATE=\"suspended\" CPU_PERCENT=\"200.0\" ")) << text[1];
}

TEST(TopText, fitsATerminalOfAnySize) {
    std::vector<TopRow> rows(50, full());
    rows.front().job.key = "manual." + std::string(200, 'x');
    for (const std::size_t width : {1, 10, 40, 80, 100, 300})
        for (const std::size_t height : {1, 2, 3, 24, 100}) {
            const auto text = lines(topText(rows, kStart, Error{ErrorCode::Unreachable, std::string(300, 'e')},
                                            {.sort = "cpu", .amounts = {}, .width = width, .height = height}, [](const TopRow&) {
                                                return TopHistory{"▁▁▁▁▁▁▁▁▁▁▁█", "████████████"};
                                            }));
            for (const auto& line : text)
                EXPECT_LE(displayWidth(line), width) << line;
            EXPECT_LE(text.size(), height) << width;
        }
    rows.erase(rows.begin());
    const auto narrow = topText(rows, kStart, std::nullopt, {.sort = "cpu", .amounts = {}, .width = 80, .height = 24});
    EXPECT_NE(narrow.find("MEMORY"), std::string::npos) << "what matters most stays";
    EXPECT_EQ(narrow.find("CACHE"), std::string::npos);
}

/// In the first half of its run, the job used no CPU, and in the second half, the job used one CPU. The parameter
/// `memory` is the number of bytes of memory that the job used during its whole run.
Profile profileWithMemory(double memory) {
    Profile made;
    for (const double cpu : {0.0, 1e6}) {
        ProfilePoint point{.length = 4s};
        point.mean[static_cast<std::size_t>(Measure::Anon)] = static_cast<float>(memory);
        point.mean[static_cast<std::size_t>(Measure::Cpu)] = static_cast<float>(cpu);
        made.add(point);
    }
    return made;
}

const TopHistory kHistory{.memory = "████████████", .cpu = "      ██████"};

/// Answers requests in place of pinfoldd, and counts the answers.
struct Answers {
    Result<Profile> answer = profileWithMemory(1e6);
    std::size_t asked = 0;
    TopHistories histories{[this](const std::string&) {
        ++asked;
        return answer;
    }};
};

constexpr MonotonicTime kNow(1000s);

TopRow aged(const std::string& key, Microseconds age) {
    auto row = named(key);
    row.age = age;
    return row;
}

TEST(TopHistories, drawMemoryAndCpu) {
    Answers pinfoldd;
    EXPECT_EQ(pinfoldd.histories.of(named("a"), kNow), kHistory);
}

TEST(TopHistories, areUnknownWithoutAProfile) {
    Answers pinfoldd;
    pinfoldd.answer = Profile();
    EXPECT_EQ(pinfoldd.histories.of(named("a"), kNow), std::nullopt) << "pinfoldd has not looked at the job yet";
    pinfoldd.answer = Error{ErrorCode::Denied, "the job belongs to another user"};
    EXPECT_EQ(pinfoldd.histories.of(named("b"), kNow), std::nullopt);
    EXPECT_EQ(pinfoldd.histories.of(named("b"), kNow + 1s), std::nullopt);
    EXPECT_EQ(pinfoldd.asked, 2U) << "an error about one job is remembered";
}

TEST(TopHistories, areAskedForAgainAsSeldomAsPinfolddLooks) {
    for (const auto& [age, wait] : {std::pair<Microseconds, Microseconds>{0s, 5s}, {8s, 8s}, {24h, 30s}}) {
        Answers pinfoldd;
        pinfoldd.histories.of(aged("a", age), kNow);
        pinfoldd.histories.of(aged("a", age), kNow + wait - 1us);
        EXPECT_EQ(pinfoldd.asked, 1U) << toUsec(age);
        pinfoldd.answer = profileWithMemory(0);
        EXPECT_EQ(pinfoldd.histories.of(aged("a", age), kNow + wait)->memory, std::string(kHistoryCells, ' '));
        EXPECT_EQ(pinfoldd.asked, 2U) << toUsec(age);
    }
}

TEST(TopHistories, leaveCallsForOtherProgramsOfTheUser) {
    Answers pinfoldd;
    const auto lookAtAll = [&pinfoldd](MonotonicTime now) {
        for (int i = 0; i < 80; ++i)
            pinfoldd.histories.of(aged(std::to_string(i), 24h), now);
        return pinfoldd.asked;
    };
    EXPECT_EQ(lookAtAll(kNow), TopHistories::kMostCalls);
    EXPECT_EQ(lookAtAll(kNow + 999ms), TopHistories::kMostCalls) << "in the same second";
    EXPECT_EQ(lookAtAll(kNow + 1s), 80U) << "the rest";
    EXPECT_EQ(pinfoldd.histories.of(aged("79", 24h), kNow + 1s), kHistory);
}

TEST(TopHistories, stayWhilePinfolddIsAway) {
    for (const auto code : {ErrorCode::Unreachable, ErrorCode::TimedOut, ErrorCode::Busy}) {
        Answers pinfoldd;
        pinfoldd.histories.of(named("a"), kNow);
        pinfoldd.answer = Error{code, ""};
        EXPECT_EQ(pinfoldd.histories.of(named("a"), kNow + 5s), kHistory);
        EXPECT_EQ(pinfoldd.histories.of(named("b"), kNow + 5s), std::nullopt);
        EXPECT_EQ(pinfoldd.asked, 2U) << "each further call would wait for an answer as well";
        pinfoldd.answer = profileWithMemory(1);
        EXPECT_EQ(pinfoldd.histories.of(named("b"), kNow + 15s), kHistory);
    }
}

TEST(TopHistories, belongToOneJob) {
    Answers pinfoldd;
    pinfoldd.histories.of(named("a"), kNow);
    auto later = named("a");
    later.job.created = kStart;
    pinfoldd.answer = Profile();
    EXPECT_EQ(pinfoldd.histories.of(later, kNow), std::nullopt) << "a later job with the same key";
    pinfoldd.histories.keepOnly({later});
    pinfoldd.histories.of(later, kNow);
    EXPECT_EQ(pinfoldd.asked, 2U);
    pinfoldd.histories.keepOnly({});
    pinfoldd.histories.of(later, kNow);
    EXPECT_EQ(pinfoldd.asked, 3U) << "a job that has gone is forgotten";
}

TEST(TopText, drawsHistoriesOnlyWhereThereIsRoom) {
    const auto header = [](std::size_t width) {
        return lines(topText({full()}, kStart, std::nullopt, {.sort = "cpu", .amounts = {}, .width = width, .height = 24},
                             [](const TopRow&) { return kHistory; }))[1];
    };
    const auto whole = header(300);
    EXPECT_TRUE(whole.ends_with("AGE  MEM HISTORY   CPU HISTORY")) << whole;
    const auto others = whole.find("AGE") + 3;
    EXPECT_TRUE(header(others + 28).ends_with("CPU HISTORY"));
    EXPECT_TRUE(header(others + 27).ends_with("AGE  MEM HISTORY"));
    EXPECT_TRUE(header(others + 14).ends_with("AGE  MEM HISTORY"));
    EXPECT_TRUE(header(others + 13).ends_with("AGE")) << "no other column gets narrower";
    EXPECT_EQ(header(80).find("HISTORY"), std::string::npos);
}

TEST(TopText, needsOnlyTheHistoriesThatItShows) {
    const std::vector<TopRow> rows(1000, full());
    const auto needed = [&rows](const TopStyle& style) {
        std::size_t count = 0;
        topText(rows, kStart, std::nullopt, style, [&count](const TopRow&) {
            ++count;
            return std::optional(kHistory);
        });
        return count;
    };
    EXPECT_EQ(needed({.sort = "cpu", .amounts = {}, .width = 200, .height = 24}), 22U) << "the rows on the screen";
    EXPECT_EQ(needed({.sort = "cpu", .amounts = {}, .width = 80, .height = 24}), 0U);
    EXPECT_EQ(needed({.sort = "cpu", .amounts = {}}), 0U) << "not on a terminal";
    EXPECT_EQ(needed({.sort = "cpu", .pairs = true, .amounts = {}}), 0U);
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
