// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/job_knowledge.hpp"

#include "tests/support/cpp/temporary_directory.hpp"

namespace pinfold::test {
namespace {

ProcessIdentity identity(pid_t pid, std::uint64_t startedUsec) { return {pid, fromUsec<BootTime>(startedUsec)}; }

class Knowledge : public TemporaryDirectory {
protected:
    Knowledge() : records(top() / "run/pinfold/jobs") { EXPECT_TRUE(records.prepare()); }

    /// Adds a job to pinfoldd's list, adds a record of the job, and puts a process into the job's slice.
    void addJob(const std::string& key, uid_t uid) {
        addRecord(key);
        populate("batch-" + key + ".slice", true);
        jobs.push_back({key, uid, "batch-" + key + ".slice"});
    }
    void addRecord(const std::string& key, JobState state = JobState::Running) const {
        JobRecord record("id", "boot", *JobKey::parse(key));
        record.state = state;
        record.supervisor = identity(10, 1);
        record.tasks[0].leader = identity(20, 2);
        record.tasks[1].supervisor = identity(30, 3);
        ASSERT_TRUE(records.save(record));
    }
    void populate(const std::string& slice, bool populated) const {
        write("sys/fs/cgroup/batch.slice/" + slice + "/cgroup.events",
              populated ? "populated 1\nfrozen 0\n" : "populated 0\nfrozen 0\n");
    }
    JobKnowledge learn() {
        return learnJobs(
            [this]() -> Result<std::vector<LiveJob>> {
                ++asked;
                if (onAsked)
                    onAsked();
                return silent ? Result<std::vector<LiveJob>>(*silent) : jobs;
            },
            records, CgroupTree(top()));
    }

    RecordStore records;
    std::vector<LiveJob> jobs;
    std::optional<Error> silent;
    std::function<void()> onAsked;
    int asked = 0;
};

} // namespace

TEST_F(Knowledge, aHostThatNeverHadAJobHasNoDoubts) {
    std::filesystem::remove_all(top() / "run");
    const auto known = learn();
    EXPECT_TRUE(known.jobsKnown);
    EXPECT_TRUE(known.recordsKnown);
    EXPECT_EQ(known.problems, std::vector<std::string>{});
}

TEST_F(Knowledge, whatAgreesIsKnown) {
    addJob("sge.1", 1000);
    addJob("pbs.2", 1001);
    const auto known = learn();
    EXPECT_EQ(known.problems, std::vector<std::string>{});
    EXPECT_EQ(known.users, (std::set<uid_t>{1000, 1001}));
    EXPECT_EQ(known.slices, (std::set<std::string>{"batch-sge.1.slice", "batch-pbs.2.slice"}));
    EXPECT_TRUE(known.isOurs(identity(10, 1)));
    EXPECT_TRUE(known.isOurs(identity(30, 3)));
    EXPECT_FALSE(known.isOurs(identity(10, 2)));
    EXPECT_FALSE(known.isOurs(identity(20, 2))) << "a running job's leader belongs into its scope";
    EXPECT_EQ(asked, 1);
}

TEST_F(Knowledge, theLeaderOfAJobInCreationIsOurs) {
    addJob("sge.1", 1000);
    addRecord("sge.1", JobState::Creating);
    EXPECT_TRUE(learn().isOurs(identity(20, 2)));
}

TEST_F(Knowledge, withoutPinfoldd) {
    addJob("sge.1", 1000);
    silent = Error{ErrorCode::TimedOut, "pinfoldd did not answer in time"};
    const auto known = learn();
    EXPECT_FALSE(known.jobsKnown);
    EXPECT_EQ(known.problems, std::vector<std::string>{"pinfoldd did not answer in time"});
    EXPECT_TRUE(known.isOurs(identity(10, 1))) << "records are read all the same";
    EXPECT_EQ(asked, 1);
}

TEST_F(Knowledge, anUnreadableRecordIsAProblem) {
    addJob("sge.1", 1000);
    write("run/pinfold/jobs/sge.2.json", "{");
    const auto known = learn();
    EXPECT_FALSE(known.recordsKnown);
    ASSERT_EQ(known.problems.size(), 1U);
    EXPECT_NE(known.problems[0].find("sge.2.json"), std::string::npos);
    EXPECT_EQ(asked, 1) << "waiting doesn't mend it";
}

TEST_F(Knowledge, whatDisagreesForLongIsAProblem) {
    addJob("sge.1", 1000);
    addRecord("sge.2");
    populate("batch-sge.3.slice", true);
    populate("batch-sge.4.slice", false);
    jobs.push_back({"sge.5", 1000, "batch-sge.5.slice"});
    const auto known = learn();
    ASSERT_EQ(known.problems.size(), 3U);
    EXPECT_EQ(known.problems[0], "job sge.2 has a record, but pinfoldd does not know the job");
    EXPECT_EQ(known.problems[1], "pinfoldd knows the job of batch-sge.5.slice, but the job has no record");
    EXPECT_TRUE(known.problems[2].starts_with("batch-sge.3.slice has processes"));
    EXPECT_GT(asked, 3);
}

TEST_F(Knowledge, aJobThatEndsMeanwhileIsNone) {
    addJob("sge.1", 1000);
    onAsked = [this] { // the job ends after the records have been read, and before the cgroups are read
        jobs.clear();
        ASSERT_TRUE(records.remove(*JobKey::parse("sge.1")));
        populate("batch-sge.1.slice", false);
    };
    EXPECT_EQ(learn().problems, std::vector<std::string>{});
}

TEST_F(Knowledge, aJobThatComesMeanwhileIsNone) {
    onAsked = [this] {
        if (asked == 1)
            populate("batch-sge.1.slice", true);
        else if (jobs.empty())
            addJob("sge.1", 1000);
    };
    const auto known = learn();
    EXPECT_EQ(known.problems, std::vector<std::string>{});
    EXPECT_EQ(known.users, std::set<uid_t>{1000});
}

TEST_F(Knowledge, aNewJobAtEachLookIsNone) {
    onAsked = [this] { // the job's record appears after the records have been read
        const auto key = "sge." + std::to_string(asked);
        jobs = {{key, 1000, "batch-" + key + ".slice"}};
        if (asked == 2)
            addRecord(key);
    };
    const auto known = learn();
    EXPECT_EQ(known.problems, std::vector<std::string>{});
    EXPECT_EQ(asked, 2);
    EXPECT_TRUE(known.isOurs(identity(10, 1))) << "its supervisor is none of the strays";
}

TEST_F(Knowledge, slicesThatCantBeListedAreAProblem) {
    write("sys/fs/cgroup/batch.slice", "no directory");
    const auto known = learn();
    ASSERT_EQ(known.problems.size(), 1U);
    EXPECT_NE(known.problems[0].find("batch.slice"), std::string::npos);
}

} // namespace pinfold::test
