// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "tests/unit/wording/samples.hpp"
#include "wording/advice.hpp"
#include "wording/efficiency.hpp"
#include "wording/receipt_text.hpp"
#include "wording/wrap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

namespace pinfold {
namespace {

constexpr std::uint64_t kGiB = 1 << 30;

/// Returns the receipt of a job that ran for ten minutes and succeeded. The job used the resources for which it had asked.
Receipt sample() {
    Receipt receipt;
    receipt.id = "1";
    receipt.key = "sge.4711";
    receipt.uid = 1000;
    receipt.started = RealTime(1'700'000'000s);
    receipt.ended = receipt.started + 10min;
    receipt.wall = 10min;
    receipt.exit.status = 0;
    receipt.usage.cpuUser = 15min;
    receipt.usage.cpuSystem = 60s;
    receipt.usage.memoryPeak = 512 * kMiB;
    receipt.usage.memoryNeed = 300 * kMiB;
    receipt.limits.memoryMax = kGiB;
    receipt.limits.cpuQuota = 2'000'000;
    return receipt;
}

std::string page(const Receipt& receipt) { return receiptPage(receipt, nameOf, {}); }

std::string onlyAdvice(const Receipt& receipt) {
    const auto all = adviceOn(receipt);
    return all.size() == 1 ? all.front() : std::to_string(all.size()) + " pieces of advice";
}

TEST(ReceiptPage, namesTheOwnerAsTheReceiptDoes) {
    auto receipt = sample();
    receipt.origin.user = "carol";
    EXPECT_TRUE(receiptPage(receipt, userNumber, {}).starts_with("Job sge.4711 of user carol is over. "));
    receipt.result = JobResult::Stopped;
    receipt.stoppedBy = receipt.uid;
    EXPECT_TRUE(stopLine(receipt, "node7", userNumber)
                    .starts_with("pinfold: job sge.4711 on node7 was stopped on request of user carol. It ran "));
    receipt.stoppedBy = 1001;
    EXPECT_TRUE(stopLine(receipt, "node7", userNumber).find("on request of user 1001. ") != std::string::npos);
    receipt.origin.user = "carol\n\x1b[2J";
    EXPECT_TRUE(receiptPage(receipt, userNumber, {}).starts_with("Job sge.4711 of user carol\\x0a\\x1b[2J is over. "));
    receipt.origin.user.reset();
    EXPECT_TRUE(receiptPage(receipt, userNumber, {}).starts_with("Job sge.4711 of user 1000 is over. "));
}

TEST(ReceiptPage, ofAJobThatRanWell) {
    EXPECT_EQ(page(sample()), "Job sge.4711 of user alice is over. It exited with status 0.\n"
                              "\n"
                              "  started      2023-11-14T22:13:20Z\n"
                              "  ended        2023-11-14T22:23:20Z, after 0:10:00\n"
                              "  CPU          16min (user 15min, system 1min)\n"
                              "               CPU efficiency: 80.00% of 0:20:00 core-walltime (2 CPUs)\n"
                              "  memory       needed 300M\n"
                              "               memory efficiency: 29.30% of 1G\n"
                              "               512M at the peak with page cache\n"
                              "  tasks        1\n"
                              "  left behind  nothing\n");
}

TEST(ReceiptPage, ofAJobOfWhichEverythingIsKnown) {
    auto receipt = sample();
    receipt.result = JobResult::Stopped;
    receipt.stoppedBy = 0;
    receipt.exit = {std::nullopt, 15};
    receipt.unkillableProcesses = 2;
    receipt.suspended = 2min;
    receipt.tasks = 2;
    receipt.limits.runTimeMax = toUsec(1h);
    receipt.limits.allowedCpus = CpuList::of({3, 4, 5, 6});
    receipt.limits.cpuQuota = 2'500'000;
    receipt.limits.tasksMax = 100;
    auto& usage = receipt.usage;
    usage.cpuUser = 4min;
    usage.cpuThrottled = 1500ms;
    usage.memoryPeakAnon = 500 * kMiB;
    usage.memoryPeakFile = 12 * kMiB;
    usage.memoryPeakShmem = 2 * kMiB;
    usage.swapPeak = 3 * kMiB;
    usage.tasksPeak = 17;
    usage.ioRead = 11 * kMiB;
    usage.ioWritten = 22 * kMiB;
    usage.ioDevices = {{"8:0", kMiB, 2 * kMiB, 1, 1}, {"8:16", 10 * kMiB, 20 * kMiB, 1, 1}};
    usage.cpuPressure = 7s;
    usage.memoryPressure = 0s;
    usage.ioPressure = 2min;
    usage.ioPressureFull = 60s;
    receipt.leftovers = {3, 1500ms, {"sleep 1000"}};
    EXPECT_EQ(page(receipt),
              "Job sge.4711 of user alice is over. It was stopped on request of user root, and was ended by SIGTERM "
              "(Terminated).\n"
              "\n"
              "  started      2023-11-14T22:13:20Z\n"
              "  ended        2023-11-14T22:23:20Z, after 0:10:00, of which suspended 0:02:00\n"
              "  run time     0:08:00 of 1:00:00, 13%\n"
              "  CPU          5min (user 4min, system 1min)\n"
              "               CPU efficiency: 25.00% of 0:20:00 core-walltime (2.5 CPUs)\n"
              "               slowed down by its quota for 1.5s (sum over all CPUs)\n"
              "  memory       needed 300M\n"
              "               memory efficiency: 29.30% of 1G\n"
              "               512M at the peak with page cache, of which page cache 10M\n"
              "  swap         3M at its peak\n"
              "  tasks        2, 17 processes and threads at the peak of 100\n"
              "  disks        read 11M, written 22M\n"
              "               8:16: read 10M, written 20M\n"
              "               8:0: read 1M, written 2M\n"
              "  waited       for CPU 7s, for memory 0, for disks 2min\n"
              "  unkillable   2 processes outlived SIGKILL\n"
              "  left behind  3 processes, CPU 1.5s, stopped by pinfold:\n"
              "    sleep 1000\n"
              "    and 2 more\n"
              "\n"
              "The job left processes behind, and pinfold stopped them: let the job wait for\n"
              "all processes that it starts.\n"
              "The job kept 25% of its CPUs busy: ask for fewer CPUs, or let the job use all of\n"
              "them.\n"
              "The job did nothing but wait for disks in 13% of its time: read and write less,\n"
              "in larger pieces, or on faster disks.\n");
}

TEST(ReceiptPage, saysWhichLimitsWereNotEnforced) {
    Receipt receipt;
    receipt.key = "sge.4711";
    receipt.limits.tasksMax = 100;
    receipt.limits.memoryMax = kMiB;
    receipt.usage.tasksPeak = 117;
    receipt.usage.memoryPeak = 2 * kMiB;
    receipt.limitsNotEnforced = {"memory_max", "tasks_max"};
    const auto text = page(receipt);
    EXPECT_NE(text.find("  memory       pinfold does not know how much the job needed\n"
                        "               limit 1M (not enforced)\n"
                        "               2M at the peak with page cache\n"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("at the peak of 100 (not enforced)\n"), std::string::npos) << text;
    EXPECT_NE(text.find("  limits       memory_max, tasks_max (not enforced)\n"), std::string::npos) << text;
}

TEST(ReceiptPage, isWrappedWhereThatIsWanted) {
    Receipt receipt;
    receipt.key = "sge.4711";
    receipt.result = JobResult::SupervisorLost;
    const auto wide = receiptPage(receipt, nameOf, {});
    const auto narrow = receiptPage(receipt, nameOf, {}, 40);
    EXPECT_GT(wide.find('\n'), 80U) << "one line for who searches for it";
    EXPECT_LE(narrow.find('\n'), 40U);
}

TEST(Wrap, breaksWhereTheNextWordWouldNotFit) {
    EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
    EXPECT_EQ(wrapped("one two three", 10, 4), "one\n    two\n    three");
    EXPECT_EQ(wrapped("a far-too-long-word b", 5), "a\nfar-too-long-word\nb");
    EXPECT_EQ(wrapped("one two three", 0), "one two three");
    EXPECT_EQ(wrapped("", 5), "");
}

TEST(ReceiptPage, saysWhatTheJobHadForItself) {
    auto receipt = sample();
    receipt.allocation.cpus = CpuList::of({0, 1, 2, 3});
    receipt.allocation.gpus = CpuList::of({1});
    EXPECT_NE(page(receipt).find("\n  reserved     CPUs 0-3, GPUs 1\n"), std::string::npos) << page(receipt);
    receipt.allocation.exclusive = true;
    EXPECT_EQ(allocationInWords(receipt.allocation), "CPUs 0-3, GPUs 1, no other job on the node");
    EXPECT_EQ(allocationInWords({}), "");
}

TEST(ReceiptPage, hasATableOfTasksIfThereIsMoreThanTheBatchScript) {
    auto receipt = sample();
    receipt.taskList = {onlyTask(receipt, "run.sh")};
    EXPECT_EQ(page(receipt), page(sample()));
    receipt.taskList.push_back({.number = 1,
                                .command = "python3",
                                .started = receipt.started,
                                .ended = receipt.started + 90s,
                                .exit = {.signal = 9},
                                .cpu = 5s,
                                .memoryPeak = 8 * kMiB});
    EXPECT_NE(page(receipt).find("    task  kind   command  run time  exit      CPU    peak with page cache\n"
                                 "    0     batch  run.sh   0:10:00   0         16min  512M\n"
                                 "    1     task   python3  0:01:30   signal 9  5s+    8M+\n"
                                 "    +: pinfoldd read this figure before the end of the task\n"),
              std::string::npos)
        << page(receipt);
    receipt.taskList.resize(2);
    receipt.taskList[1].exact = true;
    EXPECT_EQ(page(receipt).find("+:"), std::string::npos);
    receipt.taskList.resize(TaskReceipt::kMost);
    receipt.tasks = 1000;
    EXPECT_NE(page(receipt).find("    and 990 more\n"), std::string::npos);
    receipt.taskList.resize(TaskReceipt::kMost - 1);
    EXPECT_NE(page(receipt).find("    and 53 more\n"), std::string::npos) << "the others did not start";
}

TEST(ReceiptPage, theUnknownIsNotZero) {
    Receipt receipt;
    receipt.key = "sge.1";
    EXPECT_EQ(page(receipt), "Job sge.1 of user root is over. It ended; its exit status was not reported to pinfold.\n"
                             "\n"
                             "  started      1970-01-01T00:00:00Z\n"
                             "  ended        1970-01-01T00:00:00Z, after 0\n"
                             "  CPU          not known\n"
                             "  memory       pinfold does not know how much the job needed\n"
                             "  tasks        1\n"
                             "  left behind  nothing\n");
}

TEST(ReceiptPage, ofAKillThatTheJobOutlived) {
    auto receipt = sample();
    receipt.oom.emplace();
    receipt.oom->victim = 77;
    receipt.oom->victimName = "python3";
    const auto text = page(receipt);
    EXPECT_NE(text.find("  killed       Cgroup memory limit exceeded: Killed process 77 (python3)\n"), std::string::npos) << text;
}

TEST(ReceiptPage, staysAPageAndInWholeCharacters) {
    auto receipt = sample();
    receipt.usage.ioRead = receipt.usage.ioWritten = 0;
    receipt.usage.ioDevices.resize(40);
    receipt.leftovers.count = 10'000;
    receipt.leftovers.commands.assign(10'000, "x" + std::string(99, 'y') + "\xc3\xa9 and on"); // a cut here would split é
    const auto text = page(receipt);
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 32) << text;
    EXPECT_NE(text.find("    x" + std::string(99, 'y') + "…\n"), std::string::npos) << text;
    EXPECT_NE(text.find("    and 9995 more\n"), std::string::npos) << text;
    EXPECT_NE(text.find("               and 37 more\n"), std::string::npos) << text;
    receipt.leftovers.commands.assign(1, std::string(99, 'y') + "\xc3\xa9 and on");
    EXPECT_NE(page(receipt).find("    " + std::string(99, 'y') + "…\n"), std::string::npos) << page(receipt);
}

TEST(Cause, everyOneHasItsSentence) {
    for (const auto& [result, words] :
         {std::pair{JobResult::Signaled, "It was ended by SIGSEGV (Segmentation fault)."},
          {JobResult::Stopped, "It was stopped on request."},
          {JobResult::Timeout, "It was stopped at its run time limit of 1h."},
          {JobResult::OutOfMemory, "It was killed because it was out of memory."},
          {JobResult::SupervisorLost,
           "The job's supervisor, pinfold-run, was killed; pinfold then stopped the job's remaining processes."},
          {JobResult::NodeShutdown, "The node was shut down while it ran."},
          {JobResult::NodeLost, "The node went down without a shutdown (a power cut, a reset or a crash). When the job ended is "
                                "not known: the end shown "
                                "here is the last time at which the node is known to have run. The figures show what the "
                                "job had used at most 5min before the node went down."},
          {JobResult::Lost, "It was lost: its systemd units disappeared."}}) {
        auto receipt = sample();
        receipt.result = result;
        receipt.limits.runTimeMax = toUsec(1h);
        receipt.exit = {std::nullopt, result == JobResult::Signaled ? std::optional(11) : std::nullopt};
        EXPECT_EQ(causeInWords(receipt, nameOf), words);
    }
}

TEST(StopLine, isOfEachEndThatWasNotTheJobsDoing) {
    Receipt receipt;
    receipt.key = "sge.4711";
    receipt.limits.runTimeMax = toUsec(2h);
    receipt.wall = 2h;
    receipt.ended = fromUsec<RealTime>(1'763'678'000'000'000);
    const auto said = [&receipt](JobResult result) {
        receipt.result = result;
        return stopLine(receipt, "node7", nameOf);
    };
    const std::string job = "pinfold: job sge.4711 on node7 was ";
    const std::string figures = ". It ran for 2h until " + formatUtc(receipt.ended) + ".";
    EXPECT_EQ(said(JobResult::Timeout), job + "stopped: it reached its run time limit of 2h" + figures);
    EXPECT_EQ(said(JobResult::NodeShutdown), job + "stopped: the node is being shut down" + figures);
    EXPECT_EQ(said(JobResult::SupervisorLost), job + "stopped: its supervisor was killed" + figures);
    EXPECT_EQ(said(JobResult::Lost), job + "lost: its systemd units disappeared" + figures);
    EXPECT_EQ(said(JobResult::Stopped), job + "stopped on request" + figures);
    receipt.stoppedBy = 0;
    EXPECT_EQ(said(JobResult::Stopped), job + "stopped on request of user " + nameOf(0) + figures);
    for (const auto result : {JobResult::Exited, JobResult::Signaled, JobResult::OutOfMemory, JobResult::NodeLost})
        EXPECT_EQ(said(result), "") << toString(result);
}

TEST(StopLine, hasTheFiguresThatAreKnown) {
    Receipt receipt;
    receipt.result = JobResult::Stopped;
    receipt.wall = 3h;
    receipt.ended = fromUsec<RealTime>(1'763'678'000'000'000);
    const auto until = " until " + formatUtc(receipt.ended);
    const auto figures = [&receipt] {
        const auto line = stopLine(receipt, "node7", nameOf);
        return line.substr(line.find(". It ran for ") + 2);
    };
    receipt.usage.memoryPeak = 3 * kMiB;
    EXPECT_EQ(figures(), "It ran for 3h" + until + " and had a peak of 3M of memory with page cache.");
    receipt.usage.memoryNeed = 2 * kMiB;
    receipt.limits.memoryMax = kInfinity;
    EXPECT_EQ(figures(), "It ran for 3h" + until + " and needed 2M of memory.");
    receipt.limits.memoryMax = 4 * kMiB;
    receipt.usage.cpuUser = 90min;
    receipt.usage.cpuSystem = 1min;
    receipt.suspended = 1h;
    EXPECT_EQ(figures(),
              "It ran for 3h (1h of it suspended)" + until + ", used 1h 31min of CPU time and needed 2M of memory (limit 4M).");
    receipt.usage.memoryNeed.reset();
    receipt.usage.memoryPeak.reset();
    EXPECT_EQ(figures(), "It ran for 3h (1h of it suspended)" + until + " and used 1h 31min of CPU time.");
}

TEST(Cause, ofAKillForMemory) {
    auto receipt = sample();
    receipt.result = JobResult::OutOfMemory;
    receipt.oom.emplace();
    receipt.oom->limit = 64 * kMiB;
    EXPECT_EQ(causeInWords(receipt, nameOf), "It was killed because it needed more memory than its limit of 64M.");
    receipt.oom->victimName = "hog";
    receipt.oom->victim = 12;
    EXPECT_EQ(causeInWords(receipt, nameOf),
              "It was killed because it needed more memory than its limit of 64M; the kernel chose hog (process 12).");
    receipt.oom->victimRss = 60 * kMiB;
    receipt.oom->limit = kInfinity;
    EXPECT_EQ(causeInWords(receipt, nameOf), "It was killed because it needed more memory than its limit; the kernel chose hog "
                                             "(process 12, 60M resident).");
    receipt.oom = OomVerdict{};
    receipt.oom->cause = OomCause::Node;
    EXPECT_EQ(causeInWords(receipt, nameOf), "It was killed because the node ran out of memory.");
}

TEST(Efficiency, isOfTheFewerCpusAndOfTheTimeThatItRan) {
    auto receipt = sample();
    EXPECT_DOUBLE_EQ(*cpuEfficiency(receipt), 0.8);
    receipt.suspended = 2min;
    EXPECT_DOUBLE_EQ(*cpuEfficiency(receipt), 1.0);
    receipt.limits.allowedCpus = CpuList::of({0, 1, 2, 3});
    EXPECT_DOUBLE_EQ(*cpusAllowed(receipt.limits), 2);
    receipt.limits.cpuQuota = kInfinity;
    EXPECT_DOUBLE_EQ(*cpusAllowed(receipt.limits), 4);
    receipt.limits.allowedCpus.reset();
    EXPECT_EQ(cpuEfficiency(receipt), std::nullopt) << "nobody knows how many CPUs it might have used";
    receipt = sample();
    receipt.usage.cpuSystem.reset();
    EXPECT_EQ(cpuEfficiency(receipt), std::nullopt);
    receipt = sample();
    receipt.suspended = receipt.wall + 1us;
    EXPECT_EQ(cpuEfficiency(receipt), std::nullopt) << "it never ran";
}

TEST(Efficiency, isOfTheSlotsIfThereIsNoOtherLimit) {
    auto receipt = sample();
    receipt.limits.cpuQuota.reset();
    EXPECT_EQ(cpuEfficiency(receipt), std::nullopt);
    receipt.slots = 4;
    EXPECT_DOUBLE_EQ(*cpuEfficiency(receipt), 0.4);
    EXPECT_EQ(coreWalltime(receipt), 40min);
    EXPECT_NE(page(receipt).find("CPU efficiency: 40.00% of 0:40:00 core-walltime (4 CPUs)\n"), std::string::npos)
        << page(receipt);
    EXPECT_EQ(onlyAdvice(receipt), "The job kept 40% of its CPUs busy: ask for fewer CPUs, or let the job use all of them.");
}

TEST(Efficiency, aProductThatDoesNotFitIsUnknown) {
    Receipt receipt;
    receipt.wall = Microseconds::max();
    receipt.slots = 2;
    receipt.usage.cpuUser = receipt.usage.cpuSystem = 1us;
    EXPECT_EQ(coreWalltime(receipt), std::nullopt);
    EXPECT_EQ(cpuEfficiency(receipt), std::nullopt);
}

TEST(Efficiency, ofMemoryCountsNoPageCache) {
    auto receipt = sample();
    EXPECT_DOUBLE_EQ(*memoryEfficiency(receipt), 300.0 / 1024);
    receipt.usage.memoryNeed.reset();
    EXPECT_EQ(memoryEfficiency(receipt), std::nullopt) << "the peak may be page cache";
    receipt = sample();
    receipt.limits.memoryMax = kInfinity;
    EXPECT_EQ(memoryEfficiency(receipt), std::nullopt);
}

TEST(Advice, onMemoryAskedForInVain) {
    auto receipt = sample();
    receipt.limits.memoryMax = 64 * kGiB;
    receipt.usage.memoryPeak = 60 * kGiB;
    EXPECT_EQ(onlyAdvice(receipt),
              "The job asked for 64G of memory and needed 300M: if you ask for less, the job may start sooner.");
    receipt = sample();
    receipt.usage.memoryNeed.reset();
    receipt.limits.memoryMax = 64 * kGiB;
    receipt.usage.memoryPeak = kGiB;
    EXPECT_EQ(onlyAdvice(receipt),
              "The job asked for 64G of memory and needed 1G at most: if you ask for less, the job may start sooner.");
    receipt.wall = 59s;
    receipt.limits.cpuQuota.reset();
    EXPECT_TRUE(adviceOn(receipt).empty()) << "too short to tell";
    receipt = sample();
    receipt.usage.memoryNeed = receipt.usage.memoryPeak = kMiB;
    receipt.limits.memoryMax = kGiB - 1;
    EXPECT_TRUE(adviceOn(receipt).empty()) << "that is not worth a word";
}

TEST(Advice, onMemoryThatWasNearTheLimit) {
    auto receipt = sample();
    receipt.usage.memoryPeak = kGiB;
    EXPECT_TRUE(adviceOn(receipt).empty()) << "all of that may be page cache";
    receipt.usage.memoryNeed = kGiB - kMiB;
    EXPECT_EQ(onlyAdvice(receipt), "The job almost reached its memory limit: ask for more memory.");
    receipt.usage.memoryHighEvents = 3;
    receipt.usage.memoryPressure = 5min;
    EXPECT_EQ(onlyAdvice(receipt),
              "The job was at its memory limit and waited for memory in 50% of its time: ask for more memory.");
    receipt.oom.emplace();
    EXPECT_NE(onlyAdvice(receipt).find("The job needed more memory than it had asked for"), std::string::npos);
}

TEST(Advice, onCpus) {
    auto receipt = sample();
    receipt.usage.cpuThrottled = 5min;
    EXPECT_EQ(onlyAdvice(receipt), "The CPU quota slowed the job down: ask for more CPU time, or run fewer threads.");
    receipt.usage.cpuUser = 8min;
    EXPECT_EQ(onlyAdvice(receipt), "The job kept 45% of its CPUs busy: ask for fewer CPUs, or let the job use all of them.");
    receipt.limits.cpuQuota = 1'000'000;
    receipt.usage.cpuUser = 60s;
    EXPECT_TRUE(adviceOn(receipt).empty()) << "one CPU is the least";
}

TEST(Advice, onTimeTasksAndDisks) {
    auto receipt = sample();
    receipt.limits.runTimeMax = toUsec(10min);
    EXPECT_EQ(onlyAdvice(receipt), "The job almost reached its run time limit: ask for more time.");
    receipt.suspended = 60s;
    EXPECT_TRUE(adviceOn(receipt).empty());
    receipt.result = JobResult::Timeout;
    EXPECT_NE(onlyAdvice(receipt).find("The job reached its run time limit"), std::string::npos);
    receipt = sample();
    receipt.limits.batchRunTimeMax = toUsec(10min);
    EXPECT_EQ(onlyAdvice(receipt), "The job almost reached its run time limit: ask for more time.");
    receipt.limits.batchRunTimeMax = toUsec(runTime(receipt));
    receipt.exit = {std::nullopt, SIGTERM};
    receipt.result = JobResult::Signaled;
    EXPECT_NE(onlyAdvice(receipt).find("The job reached its run time limit"), std::string::npos) << "the batch system ended it";
    receipt = sample();
    receipt.limits.tasksMax = receipt.usage.tasksPeak = 20;
    EXPECT_NE(onlyAdvice(receipt).find("as many processes and threads as its limit allows"), std::string::npos);
    receipt = sample();
    receipt.usage.ioPressureFull = 59s;
    EXPECT_TRUE(adviceOn(receipt).empty());
    receipt.usage.ioPressureFull = 5min;
    EXPECT_NE(onlyAdvice(receipt).find("wait for disks in 50% of its time"), std::string::npos);
}

} // namespace
} // namespace pinfold
