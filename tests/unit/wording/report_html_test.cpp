// SPDX-License-Identifier: LGPL-2.1-or-later
#include "harmless.hpp"
#include "wording/report_html.hpp"

#include "base/parse.hpp"
#include "tests/unit/wording/samples.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

std::string evilName(uid_t) { return kEvil; }

Receipt receipt(const std::string& key, Microseconds cpu) {
    Receipt made;
    made.key = key;
    made.started = RealTime(1'700'000'000s);
    made.ended = made.started + 1h;
    made.wall = 1h;
    made.exit.status = 0;
    made.slots = 4;
    made.usage.cpuUser = cpu;
    made.usage.cpuSystem = 0s;
    made.usage.memoryNeed = 650 * kMiB;
    made.usage.memoryPeak = 900 * kMiB;
    made.limits.memoryMax = 1024 * kMiB;
    made.limits.tasksMax = 50;
    return made;
}

Profile leak() {
    Profile profile;
    for (int i = 0; i < 60; ++i) {
        ProfilePoint point{.length = 60s};
        const auto set = [&point](Measure measure, double value) {
            point.mean[static_cast<std::size_t>(measure)] = point.most[static_cast<std::size_t>(measure)] =
                static_cast<float>(value);
        };
        set(Measure::Anon, i * 10.0 * kMiB);
        set(Measure::Shmem, i < 20 ? 0 : 50.0 * kMiB);
        set(Measure::Cache, 200.0 * kMiB);
        set(Measure::Cpu, i % 10 < 5 ? 1.5e6 : 0.2e6);
        set(Measure::Io, i == 30 ? 4.0 * kMiB : 0);
        set(Measure::Tasks, 3);
        profile.add(point);
    }
    return profile;
}

TEST(HtmlReport, hasTheCauseTheCurvesTheLimitsAndTheAdvice) {
    auto job = ReportedJob{receipt("sge.4711", 40min), leak()};
    job.receipt.leftovers = {1, 1s, {"sleep 1000"}};
    const auto page = htmlReport({job}, [](uid_t) { return std::string("alice"); });
    expectHarmless(page);
    for (const char* text :
         {"<h1>Job sge.4711</h1>", "of user alice. It exited with status 0.", "16.67%", "63.48%", "<code>sleep 1000</code>",
          "640M at most, limit 1G", "4.0 CPUs held", "class=\"limit\"", "The job kept 17% of its CPUs busy", "of 4h"})
        EXPECT_NE(page.find(text), std::string::npos) << text;
}

TEST(HtmlReport, saysThatTheNeedIsNotKnown) {
    auto job = ReportedJob{receipt("sge.1", 40min), Profile()};
    EXPECT_NE(htmlReport({job}, evilName).find("<span>650M needed of 1G</span>"), std::string::npos);
    job.receipt.usage.memoryNeed.reset();
    EXPECT_NE(htmlReport({job}, evilName).find("<span>pinfold does not know the need; the limit is 1G</span>"),
              std::string::npos);
    job.receipt.limits.memoryMax.reset();
    EXPECT_NE(htmlReport({job}, evilName).find("<span>pinfold does not know the need</span>"), std::string::npos);
}

TEST(HtmlReport, ofAJobOfSeveralHostsIsAboutTheHostThatEndedIt) {
    auto job = ReportedJob{.receipt = receipt("slurm.1", 1h), .profile = {}, .hosts = "node9 <ended> first\n"};
    job.receipt.origin.host = kEvil;
    const auto page = htmlReport({job}, evilName);
    expectHarmless(page);
    EXPECT_NE(page.find("<h2>All hosts</h2>\n<pre>node9 &lt;ended&gt; first\n</pre>\n<h2>Host "), std::string::npos);
    job.hosts.clear();
    EXPECT_EQ(htmlReport({job}, evilName).find("<h2>All hosts</h2>"), std::string::npos);
}

TEST(HtmlReport, aJobWithoutAProfileHasNoCurves) {
    const auto page = htmlReport({{receipt("sge.1", 1h), Profile()}, {receipt("sge.2", 1h), Profile()}}, evilName);
    EXPECT_EQ(page.find("<svg"), std::string::npos);
    EXPECT_NE(page.find("<h1>Job sge.2</h1>"), std::string::npos);
}

TEST(HtmlReport, aCurveWhoseHighestValueIsWrittenAsZeroIsNotThere) {
    ProfilePoint point{.length = 60s};
    const auto cpu = static_cast<std::size_t>(Measure::Cpu);
    point.most[static_cast<std::size_t>(Measure::Tasks)] = 1;
    const auto pageWith = [&](float used) {
        point.most[cpu] = used;
        Profile profile;
        profile.add(point);
        return htmlReport({{.receipt = receipt("sge.1", 1h), .profile = profile}}, evilName);
    };
    EXPECT_EQ(pageWith(40).find("CPUs at most"), std::string::npos);
    EXPECT_NE(pageWith(40'000).find("0.040 CPUs at most"), std::string::npos);
}

TEST(HtmlReport, hasATableOfAllTasks) {
    auto job = receipt("sge.1", 1h);
    job.tasks = 64;
    for (std::uint32_t number = 0; number < 64; ++number)
        job.taskList.push_back({.number = number,
                                .kind = number == 0 ? TaskKind::Batch : TaskKind::Task,
                                .command = kEvil,
                                .started = job.started,
                                .ended = job.started + 90s,
                                .exit = {.status = {}, .signal = 9},
                                .cpu = 2s,
                                .memoryPeak = 3 * kMiB,
                                .exact = number != 5});
    const auto page = htmlReport({{job, Profile()}}, evilName);
    expectHarmless(page);
    EXPECT_NE(page.find("<h2>Tasks</h2>"), std::string::npos);
    EXPECT_NE(page.find("<td>63</td><td>task</td><td>&lt;img"), std::string::npos);
    EXPECT_NE(page.find("<td>0:01:30</td><td>signal 9</td><td>2s</td><td>3M</td>"), std::string::npos);
    EXPECT_NE(page.find("<td>2s+</td><td>3M+</td>"), std::string::npos);
    EXPECT_NE(page.find("<p>+: pinfoldd read this figure before the end of the task</p>"), std::string::npos);
    EXPECT_EQ(htmlReport({{receipt("sge.2", 1h), Profile()}}, evilName).find("<h2>Tasks"), std::string::npos);
}

TEST(HtmlReport, aTextThatIsEscapedAlreadyIsNotEscapedAgain) {
    auto made = receipt("sge.1", 1h);
    made.identity.jobName = R"(C:\\work\x1b)"; // a receipt contains C:\work and an escape character as C:\\work\x1b
    const auto page = htmlReport({{.receipt = made, .profile = {}}}, evilName);
    EXPECT_NE(page.find(R"(C:\\work\x1b)"), std::string::npos);
    EXPECT_EQ(page.find(R"(C:\\\\work)"), std::string::npos);
}

TEST(HtmlReport, anInfiniteRunTimeIsNoLimit) {
    auto made = receipt("sge.1", 1h);
    made.limits.runTimeMax = kInfinity;
    const auto page = htmlReport({{.receipt = made, .profile = {}}}, evilName);
    EXPECT_EQ(page.find("of infinity"), std::string::npos);
    EXPECT_NE(page.find("no limit"), std::string::npos);
}

TEST(HtmlReport, noTextOfAUserBecomesMarkup) {
    auto evil = receipt(std::string("user.") + kEvil, 1h);
    evil.leftovers = {2, 1s, {kEvil, std::string("\x1b]0;\x07</pre></body>") + kEvil}};
    evil.oom.emplace();
    evil.oom->victimName = kEvil;
    evil.result = JobResult::OutOfMemory;
    evil.limitsNotEnforced = {kEvil};
    const auto page = htmlReport({{evil, leak()}}, evilName);
    expectHarmless(page);
    EXPECT_NE(page.find("&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;&lt;script&gt;"), std::string::npos);
    EXPECT_EQ(page.find('\x1b'), std::string::npos);
    EXPECT_EQ(page.find("</body>"), page.rfind("</body>"));
    const auto list = htmlList({evil}, evilName);
    expectHarmless(list);
}

TEST(HtmlList, theGreatestWasteComesFirst) {
    auto unknown = receipt("sge.unknown", 1h);
    unknown.slots.reset();
    const auto page = htmlList({receipt("sge.good", 220min), unknown, receipt("sge.bad", 10min), receipt("sge.fair", 2h)},
                               [](uid_t) { return std::string("alice"); });
    expectHarmless(page);
    EXPECT_LT(page.find("sge.bad"), page.find("sge.fair"));
    EXPECT_LT(page.find("sge.fair"), page.find("sge.good"));
    EXPECT_LT(page.find("sge.good"), page.find("sge.unknown")) << "nobody knows what it wasted";
    EXPECT_NE(page.find("<h1>4 jobs</h1>"), std::string::npos);
    EXPECT_NE(page.find("<td class=\"n\">3h 50min</td>"), std::string::npos);
}

TEST(HtmlList, memoryThatWasNotNeededIsWaste) {
    auto large = receipt("sge.large", 4h);
    large.limits.memoryMax = 101ULL << 30;
    large.usage.memoryNeed = 1ULL << 30;
    auto unlimited = receipt("sge.unlimited", 4h);
    unlimited.limits.memoryMax = kInfinity;
    auto unknown = receipt("sge.unknown", 4h);
    unknown.usage.memoryNeed.reset();
    const auto page =
        htmlList({unlimited, unknown, receipt("sge.small", 220min), large}, [](uid_t) { return std::string("alice"); });
    expectHarmless(page);
    EXPECT_LT(page.find("sge.large"), page.find("sge.small")) << "it used its CPUs, but held 100 GiB of memory for nothing";
    EXPECT_LT(page.find("sge.small"), page.find("sge.unlimited"));
    EXPECT_NE(page.find("<td class=\"n\">100.00 GiB h</td>"), std::string::npos) << page;
    EXPECT_EQ(unusedMemory(unlimited), std::nullopt);
    EXPECT_EQ(unusedMemory(unknown), std::nullopt);
}

} // namespace
} // namespace pinfold
