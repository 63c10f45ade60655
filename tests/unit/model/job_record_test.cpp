// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/job_record.hpp"
#include "tests/support/cpp/mutation.hpp"

#include "base/parse.hpp"

#include "tests/support/cpp/replaced.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

JobRecord freshRecord() { return {"id-1", "boot-1", *JobKey::parse("sge.4711")}; }

JobRecord fullRecord() {
    JobRecord record("id-2", "boot-2", *JobKey::parse("pbs.12[7].server"));
    record.state = JobState::Ending;
    record.uid = UINT32_MAX;
    record.created = fromUsec<RealTime>(1'763'678'000'000'000);
    record.createdBoot = BootTime::max();
    record.limits = {.memoryMax = 4ULL << 30,
                     .cpuQuota = kInfinity,
                     .cpuWeight = 100,
                     .allowedCpus = *CpuList::parse("0-3,8"),
                     .tasksMax = 5,
                     .runTimeMax = 1'000};
    record.limitsNotEnforced = {"tasks_max"};
    record.allocation = {.cpus = *CpuList::parse("0-1"),
                         .reserved = *CpuList::parse("0-3"),
                         .gpus = *CpuList::parse("2"),
                         .exclusive = true,
                         .environment = {{"CUDA_VISIBLE_DEVICES", "2"}}};
    record.limitsForcedBy = 1000;
    record.suspendedSince = fromUsec<BootTime>(203);
    record.suspended = 9s;
    record.oomKills = 2;
    record.oom = OomVerdict();
    record.oom->at = record.created;
    record.oom->victimName = "hog";
    record.oomSaid = true;
    record.runTimeWarned = 1'000;
    record.memoryWarned = 4ULL << 30;
    record.supervisor = {100, fromUsec<BootTime>(200)};
    record.tasks = {{0, {ProcessIdentity{101, fromUsec<BootTime>(201)}, {}, true}},
                    {1, {}},
                    {UINT32_MAX, {ProcessIdentity{102, fromUsec<BootTime>(202)}, ProcessIdentity{103, fromUsec<BootTime>(203)}}}};
    record.taskLog =
        std::vector<LoggedTask>{{.receipt = {.kind = TaskKind::Batch, .command = "sh", .started = record.created}, .leader = 101},
                                {.receipt = {.number = 1,
                                             .kind = TaskKind::Login,
                                             .command = "sshd",
                                             .started = record.created,
                                             .ended = record.created,
                                             .exit = {.status = {}, .signal = 9},
                                             .cpu = 5us,
                                             .memoryPeak = 6,
                                             .exact = true},
                                 .over = true}};
    record.linger = kForever;
    record.reportWithin = 30s;
    record.neverRan = true;
    record.leftoversListed = true;
    record.nextTask = 7;
    record.cause = JobResult::SupervisorLost;
    record.exit = {.status = 255, .signal = 64};
    record.stoppedBy = 0;
    record.grace = 0s;
    record.leftovers = {.count = 3, .cpu = 17us, .commands = {"sleep 9", "\"quoted\" \\\\ grün", ""}};
    record.unkillableSince = fromUsec<RealTime>(1'763'678'000'000'001);
    record.unkillableInFuse = true;
    record.unkillableProcesses = UINT32_MAX;
    record.ownersBatch = true;
    record.slots = 4;
    record.identity = {.jobName = "a \"job\"", .account = "physics", .arrayTask = 7, .nodes = {"node1"}, .labels = {{"a", "b"}}};
    record.figures = FinalFigures{.ended = fromUsec<RealTime>(1'763'678'000'000'002), .wall = 17us, .usage = {}, .user = "alice"};
    record.figures->usage.cpuUser = 42us;
    record.figures->usage.ioDevices = {{"8:0", 1, 2, 3, 4}};
    return record;
}

void expectRefused(const std::string& text) {
    const auto record = decodeJobRecord(text);
    ASSERT_FALSE(record) << text;
    EXPECT_EQ(record.error().code, ErrorCode::InvalidArgument);
    EXPECT_EQ(record.error().message.find('\n'), std::string::npos);
}

TEST(JobRecord, comesBack) {
    for (const auto& record : {freshRecord(), fullRecord()}) {
        const auto decoded = decodeJobRecord(encode(record));
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_EQ(*decoded, record);
        EXPECT_EQ(encode(*decoded), encode(record));
    }
}

// After an upgrade, pinfoldd reads the records that the earlier version wrote for running jobs.
TEST(JobRecord, ofAnEarlierPinfolddIsUnderstood) {
    const std::string text =
        R"({"version":1,"id":"1","boot_id":"b","key":"sge.1","state":"running","uid":1000,"created":5,"created_boot":6,)"
        R"("limits":{"memory_max":1048576,"cpu_quota":null,"cpu_weight":null,"allowed_cpus":"0-1","tasks_max":null,"run_time_max":null},)"
        R"("supervisor":null,"tasks":[{"number":0,"leader":{"pid":7,"started":8}}],"next_task":1,"cause":null,"grace":null,)"
        R"("exit_status":null,"exit_signal":null,"stopped_by":null,"leftovers":0,"leftover_cpu":0,"leftover_commands":[]})"
        "\n";
    const auto record = decodeJobRecord(text);
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(record->limits.memoryMax, 1U << 20);
    EXPECT_EQ(record->limits.oomPolicy, std::nullopt);
    EXPECT_EQ(record->suspended, 0s);
    expectRefused(test::replaced(text, R"("uid":1000)", R"("uid":4294968296)"));
    expectRefused(test::replaced(text, R"("uid":1000)", R"("uid":1,"uid":1000)"));
    expectRefused(test::replaced(text, R"("memory_max")", R"("memory_most")"));
}

// An earlier pinfoldd refuses a record that contains an unknown member.
TEST(JobRecord, ofAJobWithOnlyItsBatchScriptIsAsBefore) {
    auto record = freshRecord();
    record.tasks[0] = {.leader = ProcessIdentity{101, fromUsec<BootTime>(201)}};
    EXPECT_EQ(encode(record).find("task_log"), std::string::npos);
    EXPECT_NE(encode(fullRecord()).find("task_log"), std::string::npos);
}

// An earlier pinfoldd refuses a record that contains an unknown member.
TEST(JobRecord, aJobThatSigkillEndsHasNoNumberOfUnkillableProcesses) {
    EXPECT_EQ(encode(freshRecord()).find("unkillable"), std::string::npos);
    EXPECT_NE(encode(fullRecord()).find("\"unkillable_processes\":4294967295"), std::string::npos);
}

TEST(JobRecord, unsetIsNotZeroAndNotInfinity) {
    for (const std::optional<std::uint64_t> value : {std::optional<std::uint64_t>(), {0}, {kInfinity}}) {
        auto record = freshRecord();
        record.limits.memoryMax = value;
        record.grace = timeLimit(value);
        const auto decoded = decodeJobRecord(encode(record));
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_EQ(decoded->limits.memoryMax, value);
        EXPECT_EQ(decoded->grace, timeLimit(value));
    }
}

TEST(JobRecord, everyTruncationIsRefused) {
    const auto text = encode(fullRecord());
    const auto end = text.rfind('}'); // a missing line break at the end is harmless
    for (std::size_t length = 0; length <= end; ++length)
        EXPECT_FALSE(decodeJobRecord(text.substr(0, length))) << length;
}

TEST(JobRecord, refusesGarbage) {
    for (const char* text : {"", "\n", "null", "{}", "[]", "1", "\"x\"", "{\"version\":1}", "\xff\xfe", "{\"version\":{}}"})
        expectRefused(text);
    expectRefused(encode(fullRecord()) + encode(fullRecord()));
    expectRefused(std::string(100'000, '['));
}

TEST(JobRecord, refusesOtherVersions) {
    const auto text = encode(fullRecord());
    for (const char* version : {"0", "2", "99", "-1", "null", "\"1\""})
        expectRefused(test::replaced(text, "\"version\":1", std::string("\"version\":") + version));
}

TEST(JobRecord, refusesUnknownWords) {
    const auto text = encode(fullRecord());
    expectRefused(test::replaced(text, "\"ending\"", "\"undead\""));
    expectRefused(test::replaced(text, "\"supervisor-lost\"", "\"bored\""));
    expectRefused(test::replaced(text, "pbs.12[7].server", "pbs.1/2"));
    expectRefused(test::replaced(text, "0-3,8", "3-0"));
}

TEST(JobRecord, refusesNumbersThatDoNotFitAndWhatItDoesNotKnow) {
    const auto text = encode(freshRecord());
    for (const char* value : {"-1", "4294967296", "1.5", "true", "0,\"uid\":5", "0,\"future\":5"})
        expectRefused(test::replaced(text, "\"uid\":0", std::string("\"uid\":") + value));
    expectRefused(test::replaced(text, "\"version\":1", "\"version\":4294967297"));
    expectRefused(test::replaced(encode(fullRecord()), "\"pid\":100", "\"pid\":4294967396"));
}

TEST(JobRecord, damageNeverThrows) {
    Mutator mutator;
    const auto text = encode(fullRecord());
    int refused = 0;
    for (int i = 0; i < 5000; ++i) {
        const auto decoded = decodeJobRecord(mutator.mutate(text));
        if (!decoded) {
            ++refused;
            EXPECT_EQ(decoded.error().code, ErrorCode::InvalidArgument);
        }
    }
    EXPECT_GT(refused, 2500);
}

TEST(JobRecord, aNumberThatIsNotOfOursIsRefused) {
    for (const char* number : {"1e300", "-1e300", "1.5", "18446744073709551616"})
        expectRefused(test::replaced(encode(fullRecord()), "\"stopped_by\":0", "\"stopped_by\":" + std::string(number)));
}

TEST(Encode, bytesThatAreNoUtf8DoNotThrow) {
    auto record = freshRecord();
    record.leftovers.commands = {"\xff\xfe"};
    EXPECT_TRUE(decodeJobRecord(encode(record)));
}

} // namespace
} // namespace pinfold
