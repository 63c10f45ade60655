// SPDX-License-Identifier: LGPL-2.1-or-later
#include "job_on_hosts.hpp"
#include "tests/unit/wording/samples.hpp"
#include "wording/hosts_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

namespace pinfold::test {
namespace {

using Receipts = std::vector<Receipt>;

std::string cause(Receipts receipts) { return causeInWords(hostsOfJob(std::move(receipts)), nameOf); }

std::string hostsPageOf(Receipts receipts, std::size_t width = 0) {
    return hostsPage(hostsOfJob(std::move(receipts)), nameOf, {}, width);
}

Receipt crashed(const std::string& host, ExitState exit) {
    auto receipt = withTask(toldHost(host, 1h), 3, 1h, exit);
    receipt.taskList.front().command = "simulate";
    return receipt;
}

Receipts withOthers(Receipt first, unsigned others, Microseconds delay) {
    Receipts receipts{std::move(first)};
    for (unsigned i = 0; i < others; ++i)
        receipts.push_back(toldHost("node" + std::to_string(i), 1h + delay));
    return receipts;
}

TEST(CauseOnHosts, isTheOwnMemoryLimitOfOneHost) {
    EXPECT_EQ(
        cause(withOthers(outOfMemory(crashed("b", {.signal = SIGKILL}), 1h), 63, 800ms)),
        "It ended because task 3 (simulate) was killed on host b at the job's own memory limit of 4G; the other 63 hosts were "
        "stopped 800ms later.");
}

TEST(CauseOnHosts, namesNoTaskIfSeveralCanBeMeant) {
    auto whole = outOfMemory(crashed("b", {.signal = SIGKILL}), 1h);
    whole.taskList.push_back(whole.taskList.front());
    EXPECT_EQ(cause({whole}), "It ended because it was killed on host b at the job's own memory limit of 4G.");
    auto part = whole;
    part.result = JobResult::Exited;
    part.oom->cause = OomCause::Node;
    EXPECT_EQ(cause({part}), "It ended because one of its processes was killed on host b when the memory of the host ran out.");
}

TEST(CauseOnHosts, isTheEndOfATask) {
    EXPECT_EQ(cause(withOthers(crashed("b", {.status = 1}), 1, 2s)),
              "It ended because task 3 (simulate) on host b exited with status 1; the other host was stopped 2s later.");
    EXPECT_EQ(cause(withOthers(crashed("b", {.signal = SIGSEGV}), 2, 100ms)),
              "It ended because task 3 (simulate) on host b was ended by SIGSEGV (Segmentation fault); the other 2 hosts were "
              "stopped at the same time.");
}

TEST(CauseOnHosts, saysThatABatchScriptWhichExitedEnded) {
    EXPECT_EQ(
        cause({crashed("b", {.signal = SIGSEGV}), batchHost("a", 1h + 2s, {.status = 3})}),
        "It ended because task 3 (simulate) on host b was ended by SIGSEGV (Segmentation fault); the other host ended 2s later.");
}

TEST(CauseOnHosts, isTheBatchScript) {
    EXPECT_EQ(cause(withOthers(batchHost("a", 1h, {.status = 0}), 7, 1s)),
              "It ended when its batch script on host a exited with status 0; the other 7 hosts ended 1s later.");
    EXPECT_EQ(
        cause(withOthers(batchHost("a", 1h, {.signal = SIGTERM}), 1, 1s)),
        "It ended because its batch script on host a was ended by SIGTERM (Terminated); the other host was stopped 1s later.");
    EXPECT_EQ(
        cause(withOthers(batchHost("a", 1h, {}), 1, 1s)),
        "It ended when its batch script on host a ended; its exit status was not reported to pinfold; the other host ended 1s "
        "later.");
}

TEST(CauseOnHosts, isAnEndFromOutside) {
    EXPECT_EQ(cause(withOthers(ended(toldHost("b", 30min), JobResult::NodeLost), 2, 0s)),
              "It ended because host b went down without a shutdown (a power cut, a reset or a crash); the other 2 hosts were "
              "stopped afterwards.");
    EXPECT_EQ(cause(withOthers(ended(toldHost("b", 1h), JobResult::NodeShutdown), 1, 2s)),
              "It ended because host b was shut down; the other host was stopped 2s later.");
    auto stopped = ended(toldHost("b", 1h), JobResult::Stopped);
    EXPECT_EQ(cause({stopped}), "It ended because somebody stopped it on host b.");
    stopped.stoppedBy = 0;
    EXPECT_EQ(cause({stopped}), "It ended because user root stopped it on host b.");
    auto late = ended(toldHost("b", 1h), JobResult::Timeout);
    late.limits.runTimeMax = toUsec(1h);
    EXPECT_EQ(cause({late}), "It ended because it reached its run time limit of 1h on host b.");
    EXPECT_EQ(cause({ended(toldHost("b", 1h), JobResult::SupervisorLost)}),
              "It ended because its supervisor, pinfold-run, was killed on host b.");
    EXPECT_EQ(cause({ended(toldHost("b", 1h), JobResult::Lost)}), "It ended because its systemd units disappeared on host b.");
}

TEST(CauseOnHosts, saysTheRangeOfTheDelays) {
    auto receipts = withOthers(crashed("b", {.status = 1}), 3, 2s);
    receipts[1].taskList.front().ended = at(1h + 5s);
    receipts[1].ended = at(1h + 5s);
    EXPECT_NE(cause(receipts).find("; the other 3 hosts were stopped 2s to 5s later."), std::string::npos) << cause(receipts);
    receipts[2].taskList.front().ended = at(1h + 100ms);
    EXPECT_NE(cause(receipts).find("; the other 3 hosts were stopped up to 5s later."), std::string::npos) << cause(receipts);
    receipts[3].taskList.front().ended = at(10min);
    EXPECT_NE(cause(receipts).find("; 2 other hosts were stopped up to 5s later."), std::string::npos) << cause(receipts);
}

TEST(CauseOnHosts, isNotKnownIfNoReceiptSaysIt) {
    auto told = toldHost("b", 1h);
    EXPECT_EQ(cause({toldHost("a", 1h), told}), "The receipts of 2 hosts do not say what ended the job.");
    told.exit.status = 9;
    EXPECT_EQ(cause({toldHost("a", 1h), told}),
              "The receipts of 2 hosts do not say what ended the job. The batch system reported that it exited with status 9.");
}

TEST(CauseOnHosts, mayBeInAMissingReceipt) {
    auto told = toldHost("b", 1h);
    told.identity.nodeCount = 3;
    EXPECT_EQ(cause({toldHost("a", 1h), told}),
              "The receipts of 2 hosts do not say what ended the job. A receipt that is missing may say what ended the job.");
}

TEST(CauseOnHosts, escapesWhatAHostSaysAboutItself) {
    const auto text = cause({ended(toldHost("b\x1b[2J", 1h), JobResult::NodeShutdown)});
    EXPECT_EQ(text, "It ended because host b\\x1b[2J was shut down.");
}

/// In the receipts, almost every field has a value.
Receipts eventful() {
    auto batch = batchHost("node1", 1h + 1200ms, {.status = 137});
    batch.identity = {.jobName = "tube", .account = "physics", .run = 2, .nodes = {"node1", "node2", "node9"}, .nodeCount = 9};
    batch.leftovers = {2, 3s, {"sleep 1000"}};
    auto killed = outOfMemory(crashed("node2", {.signal = SIGKILL}), 1h);
    auto alike = outOfMemory(crashed("node3", {.signal = SIGKILL}), 1h + 100ms);
    auto shut = ended(toldHost("node4", 1h + 30s), JobResult::NodeShutdown);
    auto survived = withTask(toldHost("node5", 1h + 900ms), 6, 30min, {.status = 2});
    survived.taskList.push_back({.number = 7, .started = at(31min), .ended = at(1h + 900ms), .exit = {.signal = SIGTERM}});
    survived.tasks = 2;
    survived.leftovers = {3, 500ms, {}};
    Receipts receipts{batch, killed, alike, shut, survived, toldHost("node6", 10min)};
    for (auto& receipt : receipts) {
        receipt.identity.run = 2;
        receipt.origin.cluster = "blue";
        receipt.usage.cpuUser = 1h;
        receipt.usage.cpuSystem = 10s;
        receipt.usage.memoryNeed = 500 * kMiB;
        receipt.usage.memoryPeak = 700 * kMiB;
        receipt.slots = 4;
    }
    receipts[1].usage.memoryNeed = 4096 * kMiB;
    receipts[1].usage.oomKills = 3;
    receipts[5].usage.cpuUser = 0s;
    receipts[5].usage.cpuSystem = 1s;
    receipts[5].usage.memoryPeak.reset();
    return receipts;
}

TEST(HostsPage, hasAllThatIsKnown) {
    EXPECT_EQ(hostsPageOf(eventful()),
              "Job slurm.123 of user alice is over. It ended because task 3 (simulate) was killed on host node2 at the job's own "
              "memory limit of 4G; 2 other hosts were stopped 900ms to 1.2s later.\n"
              "\n"
              "  name         tube\n"
              "  account      physics\n"
              "  requeued     2 times before\n"
              "  hosts        9 of the cluster blue\n"
              "  missing      there is no receipt of 3 hosts: node9 and 2 more\n"
              "               the job may still run there, or the host could not send its\n"
              "               receipt yet\n"
              "  started      2023-11-14T22:13:20Z\n"
              "  ended        2023-11-14T23:13:50Z, after 1:00:30\n"
              "  first end    node2, 2023-11-14T23:13:20Z\n"
              "               or node3: the clocks do not tell which was first\n"
              "  then         2 hosts, 900ms to 1.2s after the first end, last node1\n"
              "  also         2 hosts would have ended the job as well: node3, node4\n"
              "  before       the job had no process left on 1 host: node6\n"
              "  earlier      1 failure did not end the job, at 2023-11-14T22:43:20Z:\n"
              "               task 6 on host node5 exited with status 2\n"
              "  CPU          5h on all hosts\n"
              "               per host: 50min 8s on average, at most 1h (node1), at least 1s\n"
              "               (node6)\n"
              "               CPU efficiency: 24.22% of 20:42:08 core-walltime (24 CPUs)\n"
              "  memory       needed per host: 1.1G on average, at most 4G (node2), at least\n"
              "               500M (node1)\n"
              "               at the peak with page cache: 700M on average; not known for 1\n"
              "               host\n"
              "  tasks        7\n"
              "  killed       4 processes because memory ran out: node2 (3), node3 (1)\n"
              "  left behind  5 processes, CPU 3.5s, stopped by pinfold:\n"
              "               node5 (3), node1 (2)\n"
              "\n"
              "The job hardly used the CPUs of 1 host: ask for fewer hosts, or let the job use\n"
              "all of them.\n");
}

TEST(HostsPage, isShortForTwoThousandHosts) {
    Receipts receipts;
    for (unsigned i = 0; i < 2000; ++i) {
        auto receipt = i % 2 == 0 ? outOfMemory(crashed("node" + std::to_string(i), {.signal = SIGKILL}), 1h + i * 1ms)
                                  : ended(crashed("node" + std::to_string(i), {.signal = SIGKILL}), JobResult::NodeLost);
        receipt.leftovers.count = i;
        receipt.identity.nodes = {"x" + std::to_string(i)};
        receipt.identity.nodeCount = 4000;
        receipt.usage.cpuUser = i * 1min;
        receipt.usage.cpuSystem = 0s;
        receipts.push_back(receipt);
    }
    const auto text = hostsPageOf(receipts, 80);
    EXPECT_LE(std::ranges::count(text, '\n'), 30);
    EXPECT_LE(text.size(), 2500U) << text;
}

} // namespace
} // namespace pinfold::test
