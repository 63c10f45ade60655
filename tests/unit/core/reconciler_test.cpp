// SPDX-License-Identifier: LGPL-2.1-or-later
#include "tests/unit/core/core_fixture.hpp"

#include <algorithm>
#include <fstream>

namespace pinfold::test {
namespace {

using Names = std::vector<std::string>;

class ReconcilerTest : public CoreTest {
protected:
    void ask(bool dryRun = false) {
        found.reset();
        manager->reconcile(root, dryRun, [this](Result<Reconciliation> answer) { found = std::move(answer); });
    }
    Reconciliation reconcile(bool dryRun = false) {
        ask(dryRun);
        loop.settle();
        EXPECT_TRUE(found && *found);
        return **found;
    }
    /// Makes a unit with a cgroup, and a process in this cgroup.
    ChildProcess inhabited(const std::string& unit, const std::string& path) {
        node.units.insert(unit);
        auto process = child();
        node.spawnInside(process.pid(), path);
        return process;
    }
    /// Reads the record of a running job from the disk, and returns the record's text.
    std::string recordOf(const std::string& key) const {
        std::ifstream in(node.root() / "run/pinfold/jobs" / (key + ".json"));
        return {std::istreambuf_iterator<char>(in), {}};
    }
    void putRecord(const std::string& key, const std::string& text) const {
        std::ofstream(node.root() / "run/pinfold/jobs" / (key + ".json")) << text;
    }
    std::uint64_t counted(const char* kind) const { return metrics->counts().orphans.find(kind)->second; }
    std::vector<JournalEvent> orphans() const {
        std::vector<JournalEvent> events;
        for (const auto& event : journal.events)
            if (!event.fields.empty() && event.fields.front().second == "orphan")
                events.push_back(event);
        return events;
    }

    std::optional<Result<Reconciliation>> found;
};

TEST_F(ReconcilerTest, aNodeInOrderHasNothingToDo) {
    auto leader = child();
    auto slave = child();
    create("sge.1", leader);
    manager->addTask(root, taskOf("sge.1", slave), [](const Result<TaskAdded>& added) { EXPECT_TRUE(added); });
    loop.settle();
    EXPECT_EQ(reconcile(), Reconciliation());
    EXPECT_TRUE(node.stops.empty());
    EXPECT_TRUE(orphans().empty());
}

TEST_F(ReconcilerTest, anEmptyUnitIsStoppedAndOneWithProcessesIsNamed) {
    node.units = {"batch-sge.8.slice"};
    auto stranger = inhabited("batch-sge.9.slice", "/batch.slice/batch-sge.9.slice/job-sge.9.scope");
    node.units.insert("job-sge.9.scope");
    node.units.insert("batch-not-ours.slice");

    const auto plan = reconcile(true);
    EXPECT_TRUE(node.stops.empty());
    EXPECT_TRUE(orphans().empty()) << "nothing is done, and nothing said";
    EXPECT_EQ(counted("units_stopped"), 0U);

    const auto done = reconcile();
    EXPECT_EQ(done, plan);
    EXPECT_EQ(done.unitsStopped, Names{"batch-sge.8.slice"});
    EXPECT_EQ(done.unitsLeft, Names{"batch-sge.9.slice"}) << "its scope goes with it";
    EXPECT_FALSE(done.clean());
    EXPECT_EQ(node.stops, Names{"batch-sge.8.slice"});
    EXPECT_EQ(counted("units_stopped"), 1U);
    EXPECT_EQ(counted("units_left"), 1U);
    ASSERT_EQ(orphans().size(), 2U);
    EXPECT_NE(orphans()[1].message.find("`systemctl stop 'batch-sge.9.slice'`"), std::string::npos) << orphans()[1].message;
}

TEST_F(ReconcilerTest, aStartDoesTheSame) {
    node.units = {"batch-sge.8.slice"};
    auto stranger = inhabited("batch-sge.9.slice", "/batch.slice/batch-sge.9.slice/job-sge.9.scope");
    crash();
    restart();
    EXPECT_EQ(node.stops, Names{"batch-sge.8.slice"});
    EXPECT_EQ(counted("units_stopped"), 1U);
    EXPECT_EQ(counted("units_left"), 1U);
}

TEST_F(ReconcilerTest, anUnreadableRecordKeepsAllUnitsAndCgroups) {
    node.units = {"batch-sge.8.slice"};
    putRecord("sge.1", "{\"version\":");
    const auto done = reconcile();
    EXPECT_TRUE(node.stops.empty());
    EXPECT_EQ(done.unitsLeft, Names{"batch-sge.8.slice"});
    ASSERT_EQ(done.recordsUnreadable.size(), 1U);
    EXPECT_NE(done.recordsUnreadable[0].find("sge.1.json"), std::string::npos);
    EXPECT_EQ(counted("records_unreadable"), 1U);
}

TEST_F(ReconcilerTest, aScopeThatNoRecordKnowsInALiveJob) {
    auto leader = child();
    create("sge.1", leader);
    const std::string slice = "/batch.slice/batch-sge.1.slice/";
    node.keepEmptyScopes = true;
    auto stranger = inhabited("job-sge.1-7.scope", slice + "job-sge.1-7.scope");
    auto gone = inhabited("job-sge.1-8.scope", slice + "job-sge.1-8.scope");
    node.vanish(gone.pid());
    const auto done = reconcile();
    EXPECT_EQ(done.unitsLeft, Names{"job-sge.1-7.scope"});
    EXPECT_EQ(done.unitsStopped, Names{"job-sge.1-8.scope"});
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    EXPECT_EQ(node.cgroupOf(stranger.pid()), slice + "job-sge.1-7.scope");
}

TEST_F(ReconcilerTest, aScopeThatEndsMeanwhileIsNoOrphan) {
    auto leader = child();
    create("sge.1", leader);
    node.keepEmptyScopes = true;
    auto task = inhabited("job-sge.1-2.scope", "/batch.slice/batch-sge.1.slice/job-sge.1-2.scope");
    node.vanish(task.pid()); // pinfoldd has forgotten the task, but PID 1 has not removed the task's scope yet
    node.holdLists = true;
    ask();
    node.releaseLists();
    // PID 1 sends the second list of units, and then removes the scope. The second list therefore still contains the scope.
    node.stop("job-sge.1-2.scope", [](const SystemdOutcome&) {});
    const auto stops = node.stops;
    loop.settle();
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(**found, Reconciliation());
    EXPECT_EQ(node.stops, stops);
}

TEST_F(ReconcilerTest, aScopeOfOurNameElsewhereIsLeftUnlessItHasFailed) {
    // the units of this test have names like pinfold's units, but the cgroups of the units are at other paths
    node.units = {"job-sge.8.scope", "job-sge.9.scope", "job-sge.10.scope"};
    node.activeStates = {{"job-sge.9.scope", "failed"}, {"job-sge.10.scope", "inactive"}};
    const auto done = reconcile();
    EXPECT_EQ(done.unitsLeft, Names{"job-sge.8.scope"});
    EXPECT_EQ(done.unitsStopped, Names{"job-sge.9.scope"}) << "its name is free again";
    EXPECT_TRUE(node.stops.empty());
}

TEST_F(ReconcilerTest, aCgroupThatSystemdHasForgotten) {
    auto stranger = child();
    node.spawnInside(stranger.pid(), "/batch.slice/batch-sge.9.slice");
    auto gone = child();
    node.spawnInside(gone.pid(), "/batch.slice/batch-sge.8.slice");
    node.vanish(gone.pid());
    const auto plan = reconcile(true);
    EXPECT_EQ(plan.cgroupsRemoved, Names{"/batch.slice/batch-sge.8.slice"});
    EXPECT_EQ(plan.cgroupsLeft, Names{"/batch.slice/batch-sge.9.slice"});
}

TEST_F(ReconcilerTest, aCgroupThatCantBeReadIsNotEmpty) {
    node.units = {"batch-sge.8.slice"};
    node.setFile("/batch.slice/batch-sge.8.slice", "cgroup.procs", "");
    EXPECT_EQ(reconcile().unitsLeft, Names{"batch-sge.8.slice"});
    EXPECT_TRUE(node.stops.empty());
}

TEST_F(ReconcilerTest, aRecordThatComesBackIsTakenUp) {
    auto leader = child();
    create("sge.1", leader);
    const auto text = recordOf("sge.1");
    crash();
    putRecord("sge.1", "?");
    restart();
    EXPECT_EQ(manager->jobCount(), 0U);
    putRecord("sge.1", text);
    EXPECT_EQ(reconcile(true).recordsTakenUp, Names{"sge.1"});
    EXPECT_EQ(manager->jobCount(), 0U);
    const auto done = reconcile();
    EXPECT_EQ(done.recordsTakenUp, Names{"sge.1"});
    EXPECT_TRUE(done.unitsLeft.empty());
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Running);
    end(leader);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(ReconcilerTest, aRecordWithoutItsUnitEnds) {
    auto leader = child();
    create("sge.1", leader);
    const auto text = recordOf("sge.1");
    node.holdLists = true;
    ask();
    node.stop("batch-sge.1.slice", [](const SystemdOutcome&) {});
    node.releaseLists(); // the watch of the cgroup has not reported anything yet
    loop.settle();
    ASSERT_TRUE(found && *found);
    EXPECT_EQ((*found)->recordsEnded, Names{"sge.1"});
    loop.advance(1s); // the job's leader perhaps ends soon, so pinfoldd waits for a moment
    EXPECT_EQ(receipts().size(), 1U);
    EXPECT_EQ(recordFiles(), 0U);

    auto replaced = text;
    replaced.replace(replaced.find("\"key\":\"sge.1\""), 13, "\"key\":\"sge.2\"");
    replaced.replace(replaced.find("\"id\":\"") + 6, 4, "0000");
    putRecord("sge.2", replaced);
    EXPECT_EQ(reconcile().recordsEnded, Names{"sge.2"});
    loop.advance(1s);
    EXPECT_EQ(recordFiles(), 0U);
    EXPECT_EQ(counted("records_ended"), 2U);
}

TEST_F(ReconcilerTest, recordsWithoutUnitAreCountedAtAStartToo) {
    auto leader = child();
    create("sge.1", leader);
    crash();
    node.stop("batch-sge.1.slice", [](const SystemdOutcome&) {});
    restart();
    EXPECT_EQ(counted("records_ended"), 1U);
    EXPECT_EQ(receipts().size(), 1U);
}

TEST_F(ReconcilerTest, aJobThatIsCreatedMeanwhileIsNoOrphan) {
    auto leader = child();
    node.holdStarts = true;
    create("sge.1", leader); // pinfoldd knows the job, and waits for systemd's answer to the start of the job
    node.units.insert("batch-sge.1.slice");
    EXPECT_EQ(reconcile(), Reconciliation());
    node.units.clear();
    node.holdLists = true;
    ask();
    node.release();
    node.holdStarts = false;
    loop.settle();
    node.releaseLists();
    loop.settle();
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(**found, Reconciliation());
    EXPECT_TRUE(node.stops.empty());
}

TEST_F(ReconcilerTest, aJobThatEndsMeanwhileIsNoOrphan) {
    auto leader = child();
    create("sge.1", leader);
    node.holdLists = true;
    ask();
    end(leader);
    ASSERT_EQ(manager->jobCount(), 0U);
    const auto stops = node.stops;
    node.releaseLists();
    loop.settle();
    ASSERT_TRUE(found && *found);
    EXPECT_EQ(**found, Reconciliation());
    EXPECT_EQ(node.stops, stops);
}

TEST_F(ReconcilerTest, onlyForAdministrators) {
    std::optional<Result<Reconciliation>> answer;
    manager->reconcile({1000, false}, false, [&answer](Result<Reconciliation> given) { answer = std::move(given); });
    ASSERT_TRUE(answer && !*answer);
    EXPECT_EQ(answer->error().code, ErrorCode::Denied);
}

} // namespace
} // namespace pinfold::test
