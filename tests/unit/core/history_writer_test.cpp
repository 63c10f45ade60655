// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests how pinfoldd writes the history if the disk is slow, full or damaged.
#include "core/history/history_writer.hpp"

#include "model/receipt_json.hpp"
#include "store/receipt_spool.hpp"
#include "tests/unit/core/core_fixture.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace pinfold::test {
namespace {

class HistoryWriterTest : public CoreTest {
protected:
    /// After holdDisk(), no transaction ends before releaseDisk(), as on a disk with a slow fsync().
    void holdDisk() { background->hold(Lane::HistoryWrite); }
    void releaseDisk() {
        background->release(Lane::HistoryWrite);
        loop.settle();
    }
    /// After breakHistory(), nobody can open history.db.
    void breakHistory() {
        history.reset();
        std::filesystem::rename(historyFile(), saved);
        std::filesystem::create_directory(historyFile());
    }
    void mendHistory() {
        std::filesystem::remove(historyFile());
        std::filesystem::rename(saved, historyFile());
    }
    /// Ends the leader, and reports the leader's exit as pinfold-run does.
    void endJob(const std::string& key, ChildProcess& leader) {
        const auto pid = leader.pid();
        end(leader);
        manager->endJob(root, key, {.exit = {.status = 0, .signal = {}}, .leader = pid},
                        [this](Result<Receipt> given) { answers.push_back(std::move(given)); });
        loop.settle();
    }
    std::size_t said(const std::string& part) const {
        const auto messages = journal.messages();
        return static_cast<std::size_t>(
            std::count_if(messages.begin(), messages.end(), [&](const auto& m) { return m.find(part) != std::string::npos; }));
    }
    std::size_t keptFiles() const {
        const auto directory = node.root() / "run/pinfold/receipts";
        std::error_code none;
        return static_cast<std::size_t>(
            std::distance(std::filesystem::directory_iterator(directory, none), std::filesystem::directory_iterator()));
    }
    std::vector<Receipt> stored() const { return *History::open(historyFile(), History::Mode::ReadOnly)->list({}); }
    bool isCreated(const std::string& key, const ChildProcess& leader) {
        create(key, leader);
        return created && *created;
    }

    const std::filesystem::path saved = node.root() / "var/lib/pinfold/saved.db";
    std::vector<Result<Receipt>> answers;
};

TEST_F(HistoryWriterTest, aSlowDiskHoldsUpNoOtherJob) {
    auto first = child();
    create("sge.1", first);
    auto limited = child();
    create("sge.2", limited, {.runTimeMax = toUsec(2s)});
    holdDisk();
    endJob("sge.1", first);
    EXPECT_TRUE(answers.empty()) << "not before the receipt is durable";
    EXPECT_EQ(manager->job("sge.1")->state, JobState::Accounting);

    auto third = child();
    EXPECT_TRUE(isCreated("sge.3", third));
    loop.advance(2s);
    EXPECT_EQ(manager->job("sge.2")->state, JobState::Ending) << "its time limit";

    releaseDisk();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0]->unwritten, "");
    ASSERT_EQ(stored().size(), 1U);
    EXPECT_EQ(observer.log.back(), "amended sge.1 exited") << "EndJob came when the receipt was on its way";
}

TEST_F(HistoryWriterTest, whatEndsDuringATransactionSharesTheNext) {
    std::vector<ChildProcess> leaders;
    for (int n = 1; n <= 4; ++n) {
        leaders.push_back(child());
        create("sge." + std::to_string(n), leaders.back());
    }
    holdDisk();
    for (int n = 1; n <= 4; ++n)
        endJob("sge." + std::to_string(n), leaders[static_cast<std::size_t>(n - 1)]);
    EXPECT_EQ(background->hanging(Lane::HistoryWrite), 1U);
    releaseDisk();
    EXPECT_EQ(answers.size(), 4U);
    EXPECT_EQ(stored().size(), 4U);
}

TEST_F(HistoryWriterTest, aReceiptSaysWhenTheJobRanEmptyAndNotWhenItWasWritten) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(2s);
    const auto ended = loop.realTime();
    holdDisk();
    endJob("sge.1", leader);
    loop.advance(20s);
    crash();
    restart();
    ASSERT_EQ(stored().size(), 1U);
    EXPECT_EQ(stored()[0].ended, ended);
    EXPECT_EQ(stored()[0].wall, 2s);
    EXPECT_EQ(stored()[0].usage.cpuUser, 200us);
}

TEST_F(HistoryWriterTest, whatAJobUsedIsReadWhenItRunsEmpty) {
    auto leader = child();
    auto supervisor = child(0);
    create("sge.1", leader, {}, &supervisor);
    loop.advance(2s);
    const auto ended = loop.realTime();
    end(leader); // the supervisor can still report how the leader exited
    node.setFile("/batch.slice/batch-sge.1.slice", "cpu.stat", "usage_usec 0\nuser_usec 0\nsystem_usec 0\n");
    loop.advance(11s);
    ASSERT_EQ(stored().size(), 1U);
    EXPECT_EQ(stored()[0].ended, ended);
    EXPECT_EQ(stored()[0].usage.cpuUser, 200us);
}

TEST_F(HistoryWriterTest, nobodyWaitsLongerThanPatience) {
    auto leader = child();
    create("sge.1", leader);
    holdDisk();
    endJob("sge.1", leader);
    loop.advance(config.history.patience - 1us);
    EXPECT_TRUE(answers.empty());
    EXPECT_FALSE(manager->draining());
    loop.advance(1us);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0]->unwritten, "the disk did not confirm a write within 30s");
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_EQ(recordFiles(), 0U);
    EXPECT_TRUE(node.units.empty());
    EXPECT_EQ(keptFiles(), 1U);
    EXPECT_EQ(manager->historyFigures().kept, 1U);
    ASSERT_TRUE(manager->draining());
    EXPECT_NE(manager->draining()->reason.find("receipts cannot be written: the disk did not confirm"), std::string::npos);

    std::optional<Result<Receipt>> asked;
    manager->waitJob(root, "sge.1", [&](Result<Receipt> given) { asked = std::move(given); });
    loop.settle();
    ASSERT_TRUE(asked && *asked) << "who asks later finds it as well";
    EXPECT_EQ((*asked)->id, (*answers[0]).id);

    releaseDisk();
    EXPECT_EQ(stored().size(), 1U);
    EXPECT_EQ(keptFiles(), 0U);
    EXPECT_FALSE(manager->draining());
    EXPECT_EQ(said("receipts can be written again; 1 kept receipt was written"), 1U);
}

TEST_F(HistoryWriterTest, aHistoryThatCannotBeWrittenDrainsTheNodeAndIsTriedAgain) {
    auto leader = child();
    create("sge.1", leader);
    breakHistory();
    endJob("sge.1", leader);
    ASSERT_TRUE(manager->draining());
    auto other = child();
    EXPECT_FALSE(isCreated("sge.2", other));
    EXPECT_EQ(created->error().code, ErrorCode::Draining);
    EXPECT_NE(created->error().message.find("receipts cannot be written"), std::string::npos);
    loop.advance(600s);
    EXPECT_EQ(answers.size(), 1U);
    EXPECT_EQ(said("receipts cannot be written"), 1U) << "once, and not at each try";
    EXPECT_EQ(manager->historyFigures().failing, true);

    mendHistory();
    loop.advance(31s);
    EXPECT_EQ(stored().size(), 1U);
    EXPECT_FALSE(manager->draining());
    EXPECT_EQ(std::count(observer.log.begin(), observer.log.end(), "drain changed"), 2);
    EXPECT_TRUE(isCreated("sge.2", other));
}

TEST_F(HistoryWriterTest, aSiteMayGoOnWithoutReceipts) {
    config.history.onFailure = HistoryFailure::Continue;
    auto leader = child();
    create("sge.1", leader);
    breakHistory();
    endJob("sge.1", leader);
    loop.advance(config.history.patience);
    EXPECT_EQ(answers.size(), 1U);
    EXPECT_FALSE(manager->draining());

    auto again = child();
    EXPECT_TRUE(isCreated("sge.1", again)) << "the batch system runs it once more";
    endJob("sge.1", again);
    loop.advance(0s);
    EXPECT_EQ(answers.size(), 2U) << "once is enough to wait for";
    EXPECT_EQ(keptFiles(), 2U);
    mendHistory();
    loop.advance(31s);
    EXPECT_EQ(stored().size(), 2U);
}

TEST_F(HistoryWriterTest, keptReceiptsOutliveARestart) {
    auto leader = child();
    create("sge.1", leader);
    loop.advance(2s);
    breakHistory();
    endJob("sge.1", leader);
    loop.advance(config.history.patience);
    ASSERT_EQ(answers.size(), 1U);
    crash();
    mendHistory();
    restart();
    ASSERT_EQ(stored().size(), 1U);
    EXPECT_EQ(stored()[0].wall, 2s);
    EXPECT_EQ(stored()[0].id, (*answers[0]).id);
    EXPECT_EQ(keptFiles(), 0U);
}

TEST_F(HistoryWriterTest, aReceiptThatFitsNowhereIsInMemoryAndInTheJournal) {
    auto leader = child();
    create("sge.1", leader);
    breakHistory();
    const auto spool = node.root() / "run/pinfold/receipts";
    std::filesystem::remove_all(spool);
    std::ofstream(spool) << "in the way, as a full /run is";
    endJob("sge.1", leader);
    loop.advance(config.history.patience);
    ASSERT_EQ(answers.size(), 1U) << "its wrapper does not wait for ever";
    EXPECT_NE(answers[0]->unwritten, "");
    EXPECT_EQ(manager->jobCount(), 0U);
    EXPECT_EQ(manager->historyFigures().kept, 1U);
    EXPECT_EQ(said("the receipt of job sge.1 is only in pinfoldd's memory, and a restart of pinfoldd would lose it"), 2U)
        << "when the receipt is set aside, and when the late report adds the exit status";
    mendHistory();
    loop.advance(31s);
    EXPECT_EQ(stored().size(), 1U);
    EXPECT_EQ(manager->historyFigures().kept, 0U);
}

TEST_F(HistoryWriterTest, theNumberOfAKeptReceiptIsNotGivenAgain) {
    auto leader = child();
    create("", leader);
    breakHistory();
    endJob("manual.1", leader);
    loop.advance(config.history.patience);
    ASSERT_EQ(keptFiles(), 1U);
    crash();
    mendHistory();
    restart();
    auto next = child();
    create("", next);
    EXPECT_TRUE(manager->job("manual.2"));
}

TEST_F(HistoryWriterTest, pinfolddStartsWithoutAHistory) {
    crash();
    breakHistory();
    restart();
    EXPECT_TRUE(manager->draining());
    mendHistory();
    loop.advance(2s);
    EXPECT_FALSE(manager->draining());
}

TEST_F(HistoryWriterTest, pinfolddStartsOnADiskThatHangs) {
    crash();
    background.emplace(loop);
    watch.emplace(loop);
    background->hold(Lane::HistoryWrite);
    store.emplace(*background, historyFile());
    kernelLog.emplace(UniqueFd());
    metrics.emplace();
    context.emplace(CoreContext{loop, *background, node, processes, cgroups, node.mover(), node.killer(), node, *watch, records,
                                *store, journal, *kernelLog, *metrics, config, "boot", node.root()});
    manager = std::make_unique<JobManager>(*context);
    manager->setObserver(&observer);
    bool ready = false;
    manager->recover([&](const Result<void>& done) { ready = static_cast<bool>(done); });
    loop.advance(10s);
    EXPECT_TRUE(ready);
    EXPECT_TRUE(manager->draining());
    releaseDisk();
    EXPECT_FALSE(manager->draining());
}

TEST_F(HistoryWriterTest, theOldestAreLostBeyondTheBound) {
    auto leader = child();
    create("sge.1", leader);
    crash();
    background.emplace(loop);
    store.emplace(*background, historyFile());
    metrics.emplace();
    kernelLog.emplace(UniqueFd());
    watch.emplace(loop);
    context.emplace(CoreContext{loop, *background, node, processes, cgroups, node.mover(), node.killer(), node, *watch, records,
                                *store, journal, *kernelLog, *metrics, config, "boot", node.root()});
    const Origins origins(*context);
    const Registry registry;
    LiveRows rows(loop, registry, origins);
    HistoryWriter writer(*context, rows);
    holdDisk();
    writer.start([] {});
    int answered = 0;
    for (int n = 0; n < 40; ++n) {
        Receipt receipt;
        receipt.id = "big" + std::to_string(n);
        receipt.key = "sge." + std::to_string(n);
        receipt.leftovers.commands = {std::string(1 << 20, 'x')};
        writer.write(std::move(receipt), [&answered](const Receipt&) { ++answered; });
        loop.settle();
    }
    loop.advance(config.history.patience);
    EXPECT_EQ(answered, 40);
    EXPECT_EQ(writer.figures().dropped, 9U);
    EXPECT_EQ(writer.figures().kept, 31U);
    EXPECT_EQ(keptFiles(), 31U);
    EXPECT_FALSE(writer.newest("sge.8", std::nullopt));
    EXPECT_TRUE(writer.newest("sge.9", std::nullopt));
    EXPECT_EQ(said("too many receipts wait to be written"), 1U);
}

TEST_F(HistoryWriterTest, anEpilogueIsAnsweredWhileTheDiskCannotBeRead) {
    auto leader = child();
    create("sge.1", leader);
    endJob("sge.1", leader);
    ASSERT_EQ(answers.size(), 1U);
    ASSERT_TRUE(answers[0]);
    background->hold(Lane::HistoryRead);
    manager->endJob(root, "sge.1", {}, [this](Result<Receipt> given) { answers.push_back(std::move(given)); });
    loop.settle();
    ASSERT_EQ(answers.size(), 2U);
    ASSERT_TRUE(answers[1]);
    EXPECT_EQ(answers[1]->id, answers[0]->id);
}

TEST_F(HistoryWriterTest, theReceiptThatIsStoredIsTheOneThatIsTold) {
    auto leader = child();
    create("sge.1", leader);
    Receipt earlier;
    earlier.id = records.load()->records.at(0).id;
    earlier.key = "sge.1";
    earlier.wall = 42us;
    // An earlier pinfoldd has written the receipt `earlier`. This pinfoldd was killed before it removed the job's slice.
    ASSERT_TRUE(history->write({{earlier}}));
    endJob("sge.1", leader);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0]->wall, 42us);
    EXPECT_EQ(observer.receipts.back().wall, 42us);
}

TEST_F(HistoryWriterTest, theReceiptThatAnEarlierPinfolddKeptIsTheOneThatIsTold) {
    auto leader = child();
    create("sge.1", leader);
    breakHistory();
    crash();
    Receipt earlier;
    earlier.id = records.load()->records.at(0).id;
    earlier.key = "sge.1";
    earlier.wall = 42us;
    // The disk was full, so an earlier pinfoldd kept the receipt `earlier` in /run. The earlier pinfoldd was killed before it
    // removed the job's slice.
    ASSERT_TRUE(ReceiptSpool(node.root() / "run/pinfold/receipts").keep(earlier, encodeForStore(earlier)));
    restart();
    endJob("sge.1", leader);
    loop.advance(config.history.patience);
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0]->wall, 42us);
    mendHistory();
    loop.advance(31s);
    ASSERT_EQ(stored().size(), 1U);
    EXPECT_EQ(stored()[0].wall, 42us);
    EXPECT_EQ(keptFiles(), 0U);
    EXPECT_EQ(manager->historyFigures().kept, 0U);
}

} // namespace
} // namespace pinfold::test
