// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "core/context.hpp"
#include "core/job_manager.hpp"
#include "tests/support/cpp/fake_node.hpp"
#include "tests/support/cpp/manual_background.hpp"
#include "tests/support/cpp/manual_event_loop.hpp"

#include <gtest/gtest.h>

#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinfold::test {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr Microseconds kReportWait = 10s;
constexpr const char* kSlice = "/batch.slice/batch-sge.1.slice";                 ///< the cgroup of job sge.1
constexpr const char* kScope = "/batch.slice/batch-sge.1.slice/job-sge.1.scope"; ///< the cgroup of the first task of job sge.1

struct RecordingJournal : Journal {
    void event(const JournalEvent& event) override { events.push_back(event); }
    std::vector<std::string> messages() const {
        std::vector<std::string> all;
        for (const auto& event : events)
            all.push_back(event.message);
        return all;
    }
    std::vector<JournalEvent> events;
};

struct RecordingObserver : JobObserver {
    void jobAdded(const JobSummary& job) override { log.push_back("added " + job.key.text()); }
    void outOfMemory(const JobKey& key, const OomVerdict& verdict) override {
        log.push_back("oom " + key.text() + " " + std::string(toString(verdict.cause)));
    }
    void limitNear(const JobKey& key, const std::string& limit) override { log.push_back("near " + key.text() + " " + limit); }
    void limitsChanged(const JobKey& key) override { log.push_back("limits " + key.text()); }
    void taskAdded(const JobKey& key, std::uint32_t task) override {
        log.push_back("task " + key.text() + " " + std::to_string(task));
    }
    void taskRemoved(const JobKey& key, std::uint32_t task) override {
        log.push_back("task gone " + key.text() + " " + std::to_string(task));
    }
    void leftoversFound(const JobKey& key, std::uint32_t, std::uint64_t count) override {
        log.push_back("leftovers " + key.text() + " " + std::to_string(count));
    }
    void unkillable(const JobKey& key, std::uint64_t count) override {
        log.push_back("unkillable " + key.text() + " " + std::to_string(count));
    }
    void jobRemoved(const JobKey& key, const Receipt& receipt) override {
        log.push_back("removed " + key.text());
        receipts.push_back(receipt);
    }
    void receiptAmended(const Receipt& receipt) override {
        log.push_back("amended " + receipt.key + " " + std::string(toString(receipt.result)));
    }
    void drainChanged() override { log.push_back("drain changed"); }
    std::vector<std::string> log;
    std::vector<Receipt> receipts;
};

/// Runs pinfoldd's logic on a fake node. crash() acts like kill -9, and restart() acts like systemd's Restart=.
class CoreTest : public ::testing::Test {
protected:
    CoreTest() : node(loop), cgroups(node.root()), processes(node.root()), records(node.root() / "run/pinfold/jobs") {
        EXPECT_TRUE(records.prepare());
        restart();
    }

    void crash() {
        node.forgetCallers();
        manager.reset();
        context.reset();
        store.reset();
        history.reset();
        kernelLog.reset();
        watch.reset();
        background.reset();
    }
    void restart() {
        background.emplace(loop);
        if (holdAtRestart)
            background->hold(*holdAtRestart);
        watch.emplace(loop, addWatch);
        metrics.emplace();
        std::array<int, 2> ends{};
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
        kernelLog.emplace(kernelLogReadable ? UniqueFd(ends[0]) : UniqueFd());
        kmsg.reset(ends[1]);
        store.emplace(*background, historyFile());
        context.emplace(CoreContext{loop, *background, node, processes, cgroups, node.mover(), node.killer(), node, *watch,
                                    records, *store, journal, *kernelLog, *metrics, config, bootId, node.root()});
        manager = std::make_unique<JobManager>(*context);
        manager->setObserver(&observer);
        std::optional<Result<void>> ready;
        manager->recover([&](Result<void> result) { ready = std::move(result); });
        loop.settle();
        ASSERT_TRUE(ready && *ready);
        if (auto opened = History::open(historyFile(), History::Mode::ReadWrite))
            history.emplace(std::move(*opened));
    }

    /// Sends CreateJob for a child, and stores the answer in `created`.
    void create(const std::string& key, const ChildProcess& leader, ResourceLimits limits = {},
                const ChildProcess* supervisor = nullptr, Caller caller = {0, true}) {
        CreateRequest request;
        request.key = key;
        request.leader = leader.pidfd();
        if (supervisor)
            request.supervisor = supervisor->pidfd();
        request.limits = std::move(limits);
        created.reset();
        manager->createJob(caller, std::move(request), [this](Result<JobSummary> answer) { created = std::move(answer); });
        loop.settle();
    }
    static TaskRequest taskOf(const char* key, const ChildProcess& leader) {
        TaskRequest request;
        request.key = key;
        request.leader = leader.pidfd();
        return request;
    }
    void end(ChildProcess& process) {
        node.vanish(process.pid());
        process.end();
        loop.waitForEvent(1000);
    }
    ChildProcess child(uid_t uid = 1000, const std::string& cgroup = "/system.slice/batchd.service") {
        ChildProcess process;
        node.show(process.pid(), uid, cgroup);
        return process;
    }
    /// Returns the leader of a new job. pinfoldd has sent SIGKILL to the leader, but the leader hangs in the kernel function
    /// `waitPoint`.
    ChildProcess stuckJob(const std::string& key, const std::string& waitPoint = "rpc_wait_bit_killable") {
        auto leader = child();
        create(key, leader);
        node.hang(leader.pid(), waitPoint);
        manager->stopJob(root, key, 0s, [](const Result<void>& done) { EXPECT_TRUE(done); });
        loop.settle();
        return leader;
    }
    Result<void> drainBy(const Caller& caller, const std::string& reason) {
        std::optional<Result<void>> done;
        manager->drain(caller, reason, [&](Result<void> answer) { done = std::move(answer); });
        loop.settle();
        return done.value_or(Error{ErrorCode::Internal, "no answer"});
    }
    Result<void> undrainBy(const Caller& caller) {
        std::optional<Result<void>> done;
        manager->undrain(caller, [&](Result<void> answer) { done = std::move(answer); });
        loop.settle();
        return done.value_or(Error{ErrorCode::Internal, "no answer"});
    }
    Result<std::vector<JobProcess>> listProcesses(const std::string& key) {
        std::optional<Result<std::vector<JobProcess>>> listed;
        manager->processes(root, key, 0, [&](Result<std::vector<JobProcess>> answer) { listed = std::move(answer); });
        loop.settle();
        return listed ? std::move(*listed) : Result<std::vector<JobProcess>>(Error{ErrorCode::Internal, "no answer"});
    }
    std::filesystem::path historyFile() const { return node.root() / "var/lib/pinfold/history.db"; }
    std::vector<Receipt> receipts() const { return *history->list({}); }
    std::size_t recordFiles() const { return records.load()->records.size(); }

    const Caller root{0, true};
    ManualEventLoop loop;
    FakeNode node;
    CgroupTree cgroups;
    ProcessTable processes;
    RecordStore records;
    Config config;
    std::string bootId = "boot";
    RecordingJournal journal;
    RecordingObserver observer;
    std::optional<ManualBackground> background;
    std::optional<Lane> holdAtRestart;
    CgroupWatch::AddWatch addWatch = &::inotify_add_watch;
    std::optional<CgroupWatch> watch;
    std::optional<MetricsCounter> metrics;
    std::optional<AsyncHistory> store;
    std::optional<History> history; ///< the tests use `history` to read the stored receipts
    std::optional<KernelLog> kernelLog;
    bool kernelLogReadable = true;
    UniqueFd kmsg; ///< each write to this pipe is a record of the kernel's log
    std::optional<CoreContext> context;
    std::unique_ptr<JobManager> manager;
    std::optional<Result<JobSummary>> created;
};

} // namespace pinfold::test
