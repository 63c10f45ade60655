// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests what a receipt says about the job's owner and about the job's host. Tests which users are allowed to set
// the facts about the owner and the host.
#include "tests/unit/core/core_fixture.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <type_traits>

namespace pinfold::test {
namespace {

const JobIdentity kFacts{.jobName = "train\n[Service]",
                         .account = "physics",
                         .queue = "batch.q",
                         .arrayJob = 12,
                         .arrayTask = 3,
                         .run = 1,
                         .nodes = {"node1", "node2"},
                         .nodeCount = 2,
                         .labels = {{"project", "x"}}};

class JobFactsTest : public CoreTest {
protected:
    JobFactsTest() { describeNode(); }
    void describeNode() {
        context->hostName = [] { return std::string("node1"); };
        context->nameOfUser = [this](uid_t uid) -> Result<std::string> {
            asked.push_back(uid);
            if (!userDatabase)
                return Error{ErrorCode::Internal, "no answer"};
            return "user" + std::to_string(uid);
        };
        context->nameOfGroup = [this](gid_t gid) -> Result<std::string> {
            askedGroups.push_back(gid);
            if (gid == 77)
                return Error{ErrorCode::InvalidArgument, "no such group"};
            return "group" + std::to_string(gid);
        };
        context->version = "1.2";
        config.daemon.cluster = "blue";
    }
    Result<JobSummary> createWith(const std::string& key, const ChildProcess& leader, JobIdentity identity,
                                  Caller caller = {0, true}, std::optional<std::uint64_t> slots = {}) {
        CreateRequest request;
        request.key = key;
        request.leader = leader.pidfd();
        request.identity = std::move(identity);
        request.slots = slots;
        std::optional<Result<JobSummary>> answer;
        manager->createJob(caller, std::move(request), [&](Result<JobSummary> given) { answer = std::move(given); });
        loop.settle();
        return answer.value_or(Error{ErrorCode::TimedOut, "no answer"});
    }
    void expectFacts(const Receipt& receipt) const {
        EXPECT_EQ(receipt.origin.host, "node1");
        EXPECT_EQ(receipt.origin.bootId, "boot");
        EXPECT_EQ(receipt.origin.cluster, "blue");
        EXPECT_EQ(receipt.origin.user, "user1000");
        EXPECT_EQ(receipt.origin.version, "1.2");
        EXPECT_EQ(receipt.slots, 4U);
        auto printable = kFacts;
        printable.jobName = "train\\x0a[Service]";
        EXPECT_EQ(receipt.identity, printable);
        EXPECT_EQ(receipt.sequence, 1U);
        EXPECT_TRUE(receipt.epoch);
    }

    std::vector<uid_t> asked;
    std::vector<gid_t> askedGroups;
    bool userDatabase = true;
};

TEST_F(JobFactsTest, aReceiptSaysWhoseAndWhere) {
    auto leader = child();
    ASSERT_TRUE(createWith("sge.1", leader, kFacts, root, 4));
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    expectFacts(receipts()[0]);
    ASSERT_EQ(observer.receipts.size(), 1U);
    expectFacts(observer.receipts[0]);
}

/// Returns the names of the fields whose values differ from those of an empty receipt.
std::set<std::string> fieldsOf(const Receipt& receipt) {
    const Receipt empty;
    std::vector<const void*> unset;
    forEachReceiptField(empty, [&unset](const char*, const auto& member) { unset.push_back(&member); });
    std::set<std::string> names;
    auto next = unset.begin();
    forEachReceiptField(receipt, [&](const char* name, const auto& member) {
        if (member != *static_cast<const std::remove_cvref_t<decltype(member)>*>(*next++))
            names.insert(name);
    });
    return names;
}

/// JobCloser must fill in each field of a receipt. If you add a field, give the field a value in the job of this test. If you add
/// a field that the job of this test cannot have, add the field to `ofOtherJobs`. Another test must check the
/// fields in `ofOtherJobs`.
TEST_F(JobFactsTest, aReceiptHasEveryField) {
    const std::set<std::string> ofOtherJobs{"suspended",          "tasks",       "leftovers",   "leftover_cpu",
                                            "leftover_commands",  "exit_status", "exit_signal", "unkillable_processes",
                                            "limits_not_enforced"};
    auto leader = child();
    ASSERT_TRUE(createWith("sge.1", leader, kFacts, root, 4));
    loop.advance(2s);
    manager->stopJob(root, "sge.1", 1s, [](const Result<void>&) {});
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    const auto fields = fieldsOf(receipts()[0]);
    forEachReceiptField(receipts()[0], [&](const char* name, const auto&) {
        EXPECT_NE(fields.contains(name), ofOtherJobs.contains(name)) << name;
    });
}

TEST_F(JobFactsTest, aRestartLosesNothingOfIt) {
    auto leader = child();
    ASSERT_TRUE(createWith("sge.1", leader, kFacts, root, 4));
    crash();
    restart();
    describeNode();
    auto other = child(); // the leader of a second job of the same user
    ASSERT_TRUE(createWith("sge.2", other, {}));
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    expectFacts(receipts()[0]);
}

TEST_F(JobFactsTest, aRestartBeforeTheReceiptIsStoredDoesNotLoseTheNameOfTheUser) {
    auto leader = child();
    ASSERT_TRUE(createWith("sge.1", leader, {}));
    background->hold(Lane::HistoryWrite);
    end(leader);
    holdAtRestart = Lane::Names; // the restarted pinfoldd writes the receipt before the name service answers
    crash();
    restart();
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].origin.user, "user1000");
}

TEST_F(JobFactsTest, aPowerCutLosesNothingOfIt) {
    auto leader = child();
    ASSERT_TRUE(createWith("sge.1", leader, kFacts, root, 4));
    loop.advance(1s);
    crash();
    std::filesystem::remove_all(node.root() / "run/pinfold/jobs");
    std::filesystem::remove_all(node.root() / "sys/fs/cgroup/batch.slice");
    node.units.clear();
    EXPECT_TRUE(records.prepare());
    loop.advance(60s);
    loop.reboot();
    bootId = "later boot";
    restart();
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].result, JobResult::NodeLost);
    expectFacts(receipts()[0]);
}

TEST_F(JobFactsTest, theNameOfAUserIsAskedForOnceAndNobodyWaitsForIt) {
    background->hold(Lane::Names);
    auto first = child();
    ASSERT_TRUE(createWith("sge.1", first, {}));
    end(first);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].origin.user, std::nullopt) << "the user database did not answer in time";
    background->release(Lane::Names);
    loop.settle();
    auto second = child();
    ASSERT_TRUE(createWith("sge.2", second, {}));
    end(second);
    EXPECT_EQ(receipts()[0].origin.user, "user1000");
    EXPECT_EQ(asked, std::vector<uid_t>{1000});
}

TEST_F(JobFactsTest, aUserDatabaseThatDoesNotAnswerIsAskedAgain) {
    userDatabase = false;
    auto first = child();
    ASSERT_TRUE(createWith("sge.1", first, {}));
    end(first);
    EXPECT_EQ(receipts()[0].origin.user, std::nullopt);
    userDatabase = true;
    auto second = child();
    ASSERT_TRUE(createWith("sge.2", second, {}));
    end(second);
    EXPECT_EQ(receipts()[0].origin.user, "user1000");
}

TEST_F(JobFactsTest, pinfolddFindsTheNameOfAGroupAndNobodyWaitsForIt) {
    background->hold(Lane::Names);
    auto first = child();
    ASSERT_TRUE(createWith("slurm.1", first, {.group = "500"}));
    EXPECT_EQ(manager->identity(root, "slurm.1")->group, "500");
    end(first);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].identity.group, "500") << "the group database did not answer in time";
    background->release(Lane::Names);
    loop.settle();
    auto second = child();
    ASSERT_TRUE(createWith("slurm.2", second, {.group = "500"}));
    EXPECT_EQ(manager->identity(root, "slurm.2")->group, "group500");
    end(second);
    EXPECT_EQ(receipts()[0].identity.group, "group500");
    EXPECT_EQ(askedGroups, std::vector<gid_t>{500});
}

TEST_F(JobFactsTest, aGroupWithoutANameKeepsItsNumberAndANameIsNotLookedUp) {
    const std::map<std::string, std::string> groups{{"77", "77"}, {"staff", "staff"}, {"4294967295", "4294967295"}};
    for (const auto& [given, expected] : groups) {
        auto leader = child();
        ASSERT_TRUE(createWith("slurm.1", leader, {.group = given}));
        end(leader);
        EXPECT_EQ(receipts()[0].identity.group, expected);
    }
    EXPECT_EQ(askedGroups, std::vector<gid_t>{77});
}

TEST_F(JobFactsTest, aRestartBeforeTheReceiptIsStoredDoesNotLoseTheNameOfTheGroup) {
    auto leader = child();
    ASSERT_TRUE(createWith("slurm.1", leader, {.group = "500"}));
    background->hold(Lane::HistoryWrite);
    end(leader);
    holdAtRestart = Lane::Names; // the restarted pinfoldd writes the receipt before the group database answers
    crash();
    restart();
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].identity.group, "group500");
}

TEST_F(JobFactsTest, aUserSaysLabelsAndNothingElse) {
    config.jobs.allowUserJobs = true;
    config.jobs.slots = Slots::None;
    const Caller user{1000, false};
    auto leader = child();
    for (const auto& forged : {JobIdentity{.jobName = "x"}, JobIdentity{.account = "physics"}, JobIdentity{.queue = "x"},
                               JobIdentity{.project = "x"}, JobIdentity{.group = "x"}, JobIdentity{.arrayJob = 1},
                               JobIdentity{.arrayTask = 1}, JobIdentity{.run = 0}, JobIdentity{.submitHost = "x"},
                               JobIdentity{.submitDirectory = "x"}, JobIdentity{.nodes = {"x"}}, JobIdentity{.nodeCount = 1}}) {
        const auto refused = createWith("user.1", leader, forged, user);
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::Denied);
        EXPECT_NE(refused.error().message.find("use labels"), std::string::npos);
    }
    ASSERT_TRUE(createWith("user.1", leader, {.labels = {{"project", "mine"}}}, user, 64));
    end(leader);
    ASSERT_EQ(receipts().size(), 1U);
    EXPECT_EQ(receipts()[0].identity, (JobIdentity{.labels = {{"project", "mine"}}}));
    EXPECT_EQ(receipts()[0].slots, std::nullopt) << "nobody has given the job slots";
}

TEST_F(JobFactsTest, labelsThatAreNotValidAreRefused) {
    const auto leader = child();
    for (const auto& labels : {Labels{{"a b", "x"}}, Labels{{"a", "x\ny"}}, Labels{{"a", std::string(257, 'x')}}}) {
        const auto refused = createWith("sge.1", leader, {.labels = labels});
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, ErrorCode::InvalidArgument);
    }
    EXPECT_EQ(manager->jobCount(), 0U);
}

TEST_F(JobFactsTest, anAuditorReadsAboutAllJobsAndDoesNothing) {
    const Caller auditor{1002, false, 1002, true};
    const Caller other{1003, false};
    auto over = child();
    create("sge.1", over);
    end(over);
    const auto live = child();
    create("sge.2", live);
    const auto ask = [&](const Caller& caller) {
        std::optional<Result<Receipt>> answer;
        manager->receipt(caller, "sge.1", [&](Result<Receipt> given) { answer = std::move(given); });
        loop.settle();
        return answer.value();
    };
    const auto list = [&](const Caller& caller, ReceiptFilter filter) {
        std::optional<Result<std::vector<Receipt>>> answer;
        manager->receipts(caller, std::move(filter), [&](Result<std::vector<Receipt>> given) { answer = std::move(given); });
        loop.settle();
        return answer.value();
    };
    EXPECT_TRUE(ask(auditor));
    EXPECT_FALSE(ask(other));
    EXPECT_EQ(list(auditor, {})->size(), 1U);
    EXPECT_EQ(list(auditor, {.uid = 1000})->size(), 1U);
    EXPECT_EQ(list(other, {})->size(), 0U);
    EXPECT_TRUE(manager->usage(auditor, "sge.2"));
    EXPECT_FALSE(manager->usage(other, "sge.2"));

    std::optional<Result<void>> stopped;
    manager->stopJob(auditor, "sge.2", {}, [&](Result<void> answer) { stopped = std::move(answer); });
    EXPECT_EQ(stopped.value().error().code, ErrorCode::Denied);
    std::optional<Result<Receipt>> ended;
    for (const char* key : {"sge.1", "sge.2"}) {
        manager->endJob(auditor, key, {.exit = {.status = 0, .signal = {}}, .leader = {}},
                        [&](Result<Receipt> answer) { ended = std::move(answer); });
        loop.settle();
        EXPECT_FALSE(ended.value()) << key;
    }
    EXPECT_EQ(manager->jobCount(), 1U);
}

TEST_F(JobFactsTest, whoeverWaitsForReceiptsIsToldOfThem) {
    struct : JobObserver {
        void receiptsStored(const StoredReceipts& stored) override { all.push_back(stored); }
        std::vector<StoredReceipts> all;
    } watching;
    manager->setObserver(&watching);
    auto leader = child();
    create("sge.1", leader);
    background->hold(Lane::HistoryWrite);
    end(leader);
    EXPECT_TRUE(watching.all.empty()) << "it is not in the history yet";
    background->release(Lane::HistoryWrite);
    loop.settle();
    ASSERT_EQ(watching.all.size(), 1U);
    EXPECT_EQ(watching.all[0].epoch, receipts()[0].epoch);
    EXPECT_EQ(watching.all[0].first, 1U);
    EXPECT_EQ(watching.all[0].last, 1U);
    manager->setObserver(&observer);
}

} // namespace
} // namespace pinfold::test
