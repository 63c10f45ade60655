// SPDX-License-Identifier: LGPL-2.1-or-later
#include "job_on_hosts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <set>

namespace pinfold::test {
namespace {

using Names = std::vector<std::string>;
using Receipts = std::vector<Receipt>;

constexpr unsigned kSeeds = 300;

Names namesOf(const HostsOfJob& job) {
    Names names;
    for (const auto& host : job.hosts)
        names.push_back(host.name);
    return names;
}

Receipts onNodes(Receipts receipts, const Names& nodes, std::optional<std::uint64_t> count = {}) {
    receipts.front().identity.nodes = nodes;
    receipts.front().identity.nodeCount = count;
    return receipts;
}

TEST(HostsOfJob, countsShortAndFullNamesOfAHostAsOne) {
    auto again = toldHost("b.example.org", 2h);
    again.started = at(90min);
    const auto job =
        hostsOfJob({toldHost("B", 1h), again, toldHost("10.0.0.1", 1h), toldHost("10.0.0.2", 1h), batchHost("a.x", 2h, {})});
    EXPECT_EQ(namesOf(job), (Names{"10.0.0.1", "10.0.0.2", "a.x", "B"}));
    EXPECT_EQ(job.hosts[3].receipts.size(), 2U);
}

TEST(HostsOfJob, countsAReceiptWithoutAHostAsAHost) {
    auto old = toldHost("b", 1h);
    old.origin.host.reset();
    auto other = old;
    other.id = "other";
    EXPECT_EQ(namesOf(hostsOfJob({old, other, old, toldHost("a", 1h)})), (Names{"", "", "a"}));
}

TEST(HostsOfJob, usesTheReceiptThatWasAmended) {
    const auto early = toldHost("a", 1h);
    auto late = early;
    late.exit.status = 3;
    EXPECT_EQ(hostsOfJob({early, late}).hosts[0].receipts, Receipts{late});
    EXPECT_EQ(hostsOfJob({late, early}).hosts[0].receipts, Receipts{late});
    auto other = late; // the order of two contradictory receipts must not change the result
    other.exit.status = 4;
    EXPECT_EQ(hostsOfJob({late, other}), hostsOfJob({other, late}));
}

TEST(HostsOfJob, saysHowLongAfterTheFirstHostTheOthersEnded) {
    const auto killed = outOfMemory(withTask(toldHost("b", 1h), 3, 1h, {.signal = SIGKILL}), 1h);
    const auto job =
        hostsOfJob({killed, batchHost("a", 1h + 800ms, {.status = 1}), toldHost("c", 1h - 100ms), toldHost("d", 1h + 2s),
                    ended(toldHost("e", 1h + 5s), JobResult::NodeShutdown), toldHost("f", 20min)});
    EXPECT_EQ(job.after, (Delays{.hosts = 3, .earliest = 0us, .latest = 2s}));
    std::vector<HostRole> roles;
    for (const auto& host : job.hosts)
        roles.push_back(host.role);
    EXPECT_EQ(roles, (std::vector{HostRole::After, HostRole::First, HostRole::After, HostRole::After, HostRole::OfItself,
                                  HostRole::Before}));
}

TEST(HostsOfJob, takesTheEndOfTheLastProcessAndNotOfTheLinger) {
    auto lingered = withTask(toldHost("b", 2h), 1, 1h, {.status = 0});
    EXPECT_EQ(hostsOfJob({lingered}).hosts[0].ended, at(1h));
    lingered.tasks = 70; // the receipt's list has only 1 of the 70 tasks
    EXPECT_EQ(hostsOfJob({lingered}).hosts[0].ended, at(2h));
}

TEST(HostsOfJob, namesTheHostsWithoutAReceipt) {
    const Receipts two{batchHost("a.example.org", 1h, {.status = 0}), toldHost("b", 1h)};
    EXPECT_EQ(hostsOfJob(two).missing, Names{});
    EXPECT_EQ(hostsOfJob(onNodes(two, {"a", "B.example.org", "c", "d"})).missing, (Names{"c", "d"}));
    const auto many = hostsOfJob(onNodes(two, {"a", "c"}, 2000));
    EXPECT_EQ(many.missing, Names{"c"});
    EXPECT_EQ(many.missingUnnamed, 1997U);
}

TEST(HostsOfJob, doesNotMissHostsThatTheBatchSystemNamesInAnotherWay) {
    const Receipts two{batchHost("a", 1h, {.status = 0}), toldHost("b", 1h)};
    const auto all = hostsOfJob(onNodes(two, {"slurm1", "slurm2"}, 2));
    EXPECT_EQ(all.missing, Names{});
    EXPECT_EQ(all.missingUnnamed, 0U);
    const auto lacking = hostsOfJob(onNodes(two, {"slurm1", "slurm2", "slurm3"}, 3));
    EXPECT_EQ(lacking.missing, Names{});
    EXPECT_EQ(lacking.missingUnnamed, 1U);
}

TEST(HostsOfJob, comparesTheUseOfTheHosts) {
    auto a = batchHost("a", 1h, {.status = 0});
    auto b = toldHost("b", 1h);
    a.usage.cpuUser = 3s;
    a.usage.cpuSystem = 1s;
    b.usage.cpuUser = 2s;
    b.usage.cpuSystem = 0s;
    a.usage.memoryNeed = 100;
    b.usage.memoryPeak = 300;
    const auto job = hostsOfJob({a, b, toldHost("c", 1h)});
    ASSERT_TRUE(job.cpu);
    EXPECT_EQ(*job.cpu, (Spread{2, toUsec(6s), toUsec(4s), toUsec(2s), 0, 1}));
    EXPECT_EQ(job.cpu->mean(), toUsec(3s));
    EXPECT_EQ(job.memoryNeed, (Spread{1, 100, 100, 100, 0, 0}));
    EXPECT_EQ(job.memoryPeak, (Spread{1, 300, 300, 300, 1, 1}));
}

Receipt inRun(std::optional<std::uint64_t> run, const std::string& id, Microseconds start, Microseconds end) {
    auto receipt = toldHost("a", end);
    receipt.id = id;
    receipt.started = at(start);
    receipt.identity.run = run;
    return receipt;
}

Names newest(const Receipts& receipts) {
    Names ids;
    for (const auto& receipt : newestRun(receipts))
        ids.push_back(receipt.id);
    return ids;
}

TEST(NewestRun, hasTheReceiptsWithTheNumberOfTheRun) {
    // If pinfoldd notices late that a job's first run was lost, the first run's receipt has a later end than the second run's
    // receipts.
    EXPECT_EQ(newest({inRun(1, "2", 1h, 2h), inRun(0, "1", 0s, 9h), inRun(1, "3", 90min, 2h)}), (Names{"2", "3"}));
    EXPECT_EQ(newest({inRun(0, "1", 0s, 1h), inRun(0, "2", 5h, 6h)}), (Names{"1", "2"}));
    EXPECT_EQ(newest({inRun(0, "1", 0s, 1h), inRun(0, "2", 300 * 24h, 301 * 24h)}), Names{"2"});
    EXPECT_EQ(newest({}), Names{});
}

TEST(NewestRun, isAChainInTimeIfNobodyCountsTheRuns) {
    EXPECT_EQ(newest({inRun({}, "1", 0s, 1h), inRun({}, "2", 1h + 5s, 2h), inRun({}, "3", 90min, 3h),
                      inRun({}, "4", 2h + 100ms, 2h + 1s)}),
              (Names{"2", "3", "4"}));
}

TEST(NewestRun, hasOneOwnerAndOneCluster) {
    auto other = inRun(0, "2", 10min, 1h);
    other.uid = 1001;
    auto elsewhere = inRun(0, "3", 10min, 1h);
    elsewhere.origin.cluster = "red";
    EXPECT_EQ(newest({inRun(0, "1", 20min, 1h), other, elsewhere}), Names{"1"});
}

/// Makes receipts of one job. An event on the host "first" causes the job's end. On the host "first", the job ended at the time
/// at(kEnd) of the host's clock.
class RandomJob {
public:
    explicit RandomJob(unsigned seed) : random_(seed) {}

    std::uint64_t number(std::uint64_t most) { return std::uniform_int_distribution<std::uint64_t>(0, most)(random_); }

    static constexpr Microseconds kEnd = 1h;

    Receipt firstHost() {
        const auto status = static_cast<int>(number(100)) + 1;
        auto receipt = filled(toldHost("first", kEnd + 10ms));
        switch (number(4)) {
        case 0:
            return outOfMemory(withTask(std::move(receipt), 3, kEnd, {.signal = SIGKILL}), kEnd);
        case 1:
            return ended(std::move(receipt), JobResult::Stopped);
        case 2:
            return ended(std::move(receipt), JobResult::NodeLost);
        case 3:
            return withTask(std::move(receipt), 3, kEnd, {.signal = SIGSEGV});
        default:
            return withTask(std::move(receipt), 3, kEnd, {.status = status});
        }
    }

    /// Returns the receipt of a host on which the batch system stopped the job. The clock of the receipt's host differs from the
    /// clock of the host "first".
    Receipt stoppedHost(unsigned index) {
        const auto name = "host" + std::to_string(index);
        const auto end = kEnd - 200ms + Microseconds(number(toUsec(30s)));
        auto receipt = filled(toldHost(name, end));
        if (number(1) == 1)
            receipt = withTask(std::move(receipt), index, end, {.signal = number(1) == 1 ? SIGTERM : SIGKILL});
        return receipt;
    }

    Receipt anyHost(unsigned index) {
        auto receipt = filled(toldHost("host" + std::to_string(number(index)), Microseconds(number(toUsec(2h)))));
        receipt.id = std::to_string(index);
        receipt.result = static_cast<JobResult>(number(static_cast<unsigned>(JobResult::Lost)));
        receipt.taskList.clear();
        for (std::uint32_t task = 0; task < number(4); ++task) {
            const auto signal = static_cast<int>(number(20));
            receipt.taskList.push_back({.number = task,
                                        .kind = static_cast<TaskKind>(number(2)),
                                        .started = at(Microseconds(number(toUsec(1h)))),
                                        .ended = at(Microseconds(number(toUsec(2h)))),
                                        .exit = signal > 0 ? ExitState{.signal = signal} : ExitState{.status = 0}});
        }
        if (number(3) == 0)
            receipt = outOfMemory(std::move(receipt), Microseconds(number(toUsec(2h))));
        if (number(1) == 0)
            receipt.origin.host = *receipt.origin.host + ".example.org";
        if (number(1) == 0)
            receipt.exit.status = static_cast<int>(number(3));
        receipt.identity.nodes = {"host1", "host2.example.org", "host" + std::to_string(number(30))};
        receipt.identity.nodeCount = number(40);
        return receipt;
    }

    Receipts anyHosts() {
        Receipts receipts;
        for (unsigned i = 0; i < 1 + number(20); ++i)
            receipts.push_back(anyHost(i + 1));
        return receipts;
    }

    /// Returns the receipts in a random order. The result can contain a receipt several times.
    Receipts mixed(Receipts receipts) {
        for (auto again = number(receipts.size()); again > 0; --again)
            receipts.push_back(receipts[number(receipts.size() - 1)]);
        std::ranges::shuffle(receipts, random_);
        return receipts;
    }

private:
    Receipt filled(Receipt receipt) {
        receipt.usage.cpuUser = Microseconds(number(1'000'000));
        if (number(5) > 0)
            receipt.usage.cpuSystem = Microseconds(number(1'000'000));
        if (number(2) > 0)
            receipt.usage.memoryPeak = number(1'000'000);
        receipt.usage.oomKills = number(2);
        receipt.leftovers.count = static_cast<std::uint32_t>(number(3));
        receipt.leftovers.cpu = Microseconds(number(1000));
        return receipt;
    }

    std::mt19937_64 random_;
};

TEST(HostsOfJobProperty, theOrderAndTheRepetitionOfTheReceiptsDoNotMatter) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomJob random(seed);
        const auto receipts = random.anyHosts();
        const auto job = hostsOfJob(receipts);
        ASSERT_EQ(hostsOfJob(random.mixed(receipts)), job);
        ASSERT_EQ(hostsOfJob(newestRun(random.mixed(receipts))), hostsOfJob(newestRun(receipts)));
    }
}

TEST(HostsOfJobProperty, eachReceiptIsOnOneHostAndTheTotalsAreTheSums) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomJob random(seed);
        const auto receipts = random.anyHosts();
        const auto job = hostsOfJob(random.mixed(receipts));
        std::set<std::string> names;
        std::size_t count = 0;
        for (const auto& host : job.hosts) {
            EXPECT_TRUE(names.insert(host.name.substr(0, host.name.find('.'))).second) << host.name;
            count += host.receipts.size();
        }
        ASSERT_EQ(count, receipts.size());
        std::uint64_t leftovers = 0;
        std::uint64_t tasks = 0;
        Microseconds leftoverCpu{};
        Microseconds cpu{};
        std::set<std::string> withoutCpu;
        for (const auto& receipt : receipts) {
            leftovers += receipt.leftovers.count;
            leftoverCpu += receipt.leftovers.cpu;
            tasks += receipt.tasks;
            if (!receipt.usage.cpuSystem)
                withoutCpu.insert(receipt.origin.host->substr(0, receipt.origin.host->find('.')));
        }
        for (const auto& receipt : receipts)
            if (!withoutCpu.contains(receipt.origin.host->substr(0, receipt.origin.host->find('.'))))
                cpu += *receipt.usage.cpuUser + *receipt.usage.cpuSystem;
        ASSERT_EQ(job.leftovers, leftovers);
        ASSERT_EQ(job.leftoverCpu, leftoverCpu);
        ASSERT_EQ(job.tasks, tasks);
        ASSERT_EQ(job.cpu ? job.cpu->total : 0, toUsec(cpu));
    }
}

TEST(HostsOfJobProperty, theNumberOfHostsIsThatOfTheBatchSystemOrHigher) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const auto receipts = RandomJob(seed).anyHosts();
        const auto job = hostsOfJob(receipts);
        std::uint64_t count = 0;
        for (const auto& receipt : receipts)
            count = std::max({count, *receipt.identity.nodeCount, std::uint64_t{receipt.identity.nodes.size()}});
        ASSERT_GE(job.hosts.size() + job.missing.size() + job.missingUnnamed, count);
        for (const auto& host : job.hosts)
            for (const auto& name : job.missing)
                ASSERT_NE(name.substr(0, name.find('.')), host.name.substr(0, host.name.find('.')));
    }
}

TEST(HostsOfJobProperty, hostsThatWereStoppedDoNotChangeTheCause) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomJob random(seed);
        Receipts receipts{random.firstHost()};
        if (random.number(1) == 1)
            receipts.push_back(batchHost("host0", RandomJob::kEnd + 700ms, {.status = 1}));
        const auto cause = [](const Receipts& known) {
            auto job = hostsOfJob(known);
            auto event = job.first.event.value_or(EndEvent{});
            const auto name = job.hosts[event.host].name;
            event.host = 0;
            return std::pair(name, event);
        };
        const auto first = cause(receipts);
        ASSERT_EQ(first.first, "first");
        for (unsigned i = 1; i < 8; ++i) {
            receipts.push_back(random.stoppedHost(i));
            ASSERT_EQ(cause(random.mixed(receipts)), first) << "after host" << i;
        }
    }
}

} // namespace
} // namespace pinfold::test
