// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests that this version and earlier versions of pinfold understand each other. After an upgrade, a running pinfold-run of an
// earlier version talks to the new pinfoldd. The new pinfoldd reads the records that the earlier pinfoldd has written.
#include "model/job_record.hpp"
#include "model/receipt_json.hpp"
#include "model/wrapper_protocol.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace pinfold {
namespace {

using Json = nlohmann::json;

/// Describes a member of a JSON object. If the member is missing or has a wrong type, earlier versions of pinfold cannot read the
/// JSON object.
struct Needed {
    const char* name;
    bool (*isRight)(const Json&);
};

bool isText(const Json& value) { return value.is_string(); }
bool isNumber(const Json& value) { return value.is_number_unsigned(); }
bool isObject(const Json& value) { return value.is_object(); }
bool isProcess(const Json& value) {
    return value.is_null() || (value.is_object() && isNumber(value.at("pid")) && isNumber(value.at("started")));
}
bool isTextOrNull(const Json& value) { return value.is_null() || value.is_string(); }
bool isListOfTexts(const Json& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& one) { return one.is_string(); });
}
bool isListOfTasks(const Json& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& one) {
               return isNumber(one.at("number")) && isProcess(one.at("leader"));
           });
}

const std::vector<Needed> kOfReceipt{{"id", isText},
                                     {"key", isText},
                                     {"uid", isNumber},
                                     {"started", isNumber},
                                     {"ended", isNumber},
                                     {"wall", isNumber},
                                     {"result", isText},
                                     {"tasks", isNumber},
                                     {"leftovers", isNumber},
                                     {"leftover_cpu", isNumber},
                                     {"leftover_commands", isListOfTexts}};

const std::vector<Needed> kOfRecord{{"version", isNumber},      {"id", isText},
                                    {"boot_id", isText},        {"key", isText},
                                    {"state", isText},          {"uid", isNumber},
                                    {"created", isNumber},      {"created_boot", isNumber},
                                    {"limits", isObject},       {"supervisor", isProcess},
                                    {"tasks", isListOfTasks},   {"next_task", isNumber},
                                    {"cause", isTextOrNull},    {"leftovers", isNumber},
                                    {"leftover_cpu", isNumber}, {"leftover_commands", isListOfTexts}};

void expectNeeded(const Json& json, const std::vector<Needed>& members) {
    for (const auto& [name, isRight] : members) {
        ASSERT_TRUE(json.contains(name)) << name << " in " << json;
        EXPECT_TRUE(isRight(json[name])) << name << " in " << json;
    }
}

Receipt outOfMemory() {
    Receipt receipt;
    receipt.id = "id-1";
    receipt.key = "sge.1";
    receipt.result = JobResult::OutOfMemory;
    receipt.leftovers = {.count = 1, .cpu = 2us, .commands = {"sleep 9"}};
    receipt.oom.emplace();
    receipt.oom->cause = OomCause::OwnLimit;
    receipt.oom->at = fromUsec<RealTime>(7);
    receipt.usage.ioDevices = {{"8:0", 1, 2, 3, 4}};
    receipt.taskList = {{.number = 0, .kind = TaskKind::Batch, .command = "a"}, {.number = 1, .command = "b"}};
    return receipt;
}

TEST(EarlierVersions, findTheMembersOfAReceiptThatTheyNeed) {
    for (const auto& text : {encode(Receipt{}), encodeForStore(Receipt{}), encode(outOfMemory()), encodeForStore(outOfMemory())})
        expectNeeded(Json::parse(text), kOfReceipt);
    const auto killed = Json::parse(encodeForStore(outOfMemory()));
    expectNeeded(killed, {{"oom_cause", isText}, {"oom_at", isNumber}});
    expectNeeded(
        killed["io_devices"][0],
        {{"device", isText}, {"io_read", isNumber}, {"io_written", isNumber}, {"io_reads", isNumber}, {"io_writes", isNumber}});
}

TEST(EarlierVersions, findTheMembersOfARecordThatTheyNeed) {
    JobRecord record("id-1", "boot-1", *JobKey::parse("sge.1"));
    expectNeeded(Json::parse(encode(record)), kOfRecord);
    record.supervisor = {100, fromUsec<BootTime>(200)};
    record.tasks = {{0, {ProcessIdentity{101, fromUsec<BootTime>(201)}}}, {1, {}}};
    record.cause = JobResult::Timeout;
    record.leftovers.commands = {"sleep 9"};
    record.oom = outOfMemory().oom;
    const auto json = Json::parse(encode(record));
    expectNeeded(json, kOfRecord);
    expectNeeded(json, {{"oom_cause", isText}, {"oom_at", isNumber}});
    EXPECT_EQ(json["version"], 1) << "earlier versions refuse another number";
}

TEST(EarlierVersions, understandTheAnswersToPinfoldRun) {
    auto reply = WrapperReply{"sge.1", {{"A", "b"}}, "notice\n", "summary\n", 3};
    reply.receipt = outOfMemory();
    reply.jobs = std::vector<WrapperJob>{{"sge.2", ShownState::Running}};
    const auto json = Json::parse(encodeWrapperReply(reply));
    expectNeeded(json, {{"key", isText}, {"environment", isObject}, {"notice", isText}, {"summary", isText}, {"task", isNumber}});
    expectNeeded(json["receipt"], kOfReceipt);
    expectNeeded(json["jobs"][0], {{"key", isText}, {"state", isText}});
    EXPECT_EQ(json["environment"]["A"], "b");
    const auto refused = Json::parse(encodeWrapperReply(Error{ErrorCode::Busy, "later"}));
    expectNeeded(refused, {{"error", isText}, {"message", isText}});
    EXPECT_FALSE(refused.contains("key")) << "an answer with a key is not an error";
}

// The request packets in this test are from pinfold's revision f7cc5991. pinfoldd decodes each packet, and encodes the decoded
// request again. If the encoded packet differs from the received packet, pinfoldd refuses the request.
TEST(EarlierVersions, areUnderstoodWhenTheyAsk) {
    for (
        const char* packet :
        {R"({"version":1,"call":"create","key":"sge.1","limits":{}})",
         R"({"version":1,"call":"create","key":"sge.1","limits":{"memory_max":1073741824,"allowed_cpus":"0-3","tasks_max":5,"run_time_max":300000,"kill_signal":15},"allocation":{"cpus":2,"exclusive":true},"supervised":true,"output":true})",
         R"({"version":1,"call":"create","key":"sge.1","limits":{},"supervised":true,"role":"task-of-open","owner":1000,"slots":4,"shepherd":true})",
         R"({"version":1,"call":"create","key":"sge.1","limits":{},"role":"batch"})",
         R"({"version":1,"call":"create","key":"sge.1","limits":{},"role":"task"})",
         R"({"version":1,"call":"end","key":"sge.1","leader":77,"exit_status":3})",
         R"({"version":1,"call":"end","key":"sge.1","leader":77,"exit_signal":9,"task":2,"receipt":true})",
         R"({"version":1,"call":"end","key":"slurm.1","leader":0})", R"({"version":1,"call":"suspend","key":"sge.1"})",
         R"({"version":1,"call":"resume","key":"sge.1"})", R"({"version":1,"call":"list","uid":1000})",
         R"({"version":1,"call":"adopt","key":"sge.1","owner":1000})"}) {
        const auto request = decodeWrapperRequest(packet);
        EXPECT_TRUE(request) << packet << ": " << request.error().message;
    }
}

// Before revision 55a58ede, pinfoldd accepted the name of a disk if the name began with /dev/.
TEST(EarlierVersions, haveLeftNamesOfDisksThatNoRequestMayHaveNow) {
    const std::string disks = "/dev//sda 7, /dev/fd/3 8, /dev/shm/alice/disk infinity, /dev/vda 9";
    JobRecord record("id-1", "boot-1", *JobKey::parse("sge.1"));
    Receipt receipt;
    record.limits.ioReadIopsMax = receipt.limits.ioReadIopsMax = *DeviceAmounts::parseStored(disks);
    const auto sameRecord = decodeJobRecord(encode(record));
    ASSERT_TRUE(sameRecord) << sameRecord.error().message;
    EXPECT_EQ(*sameRecord, record);
    for (const auto& text : {encode(receipt), encodeForStore(receipt)}) {
        const auto same = decodeReceipt(text);
        ASSERT_TRUE(same) << same.error().message;
        EXPECT_EQ(*same, receipt);
    }
    const std::string begin = R"({"version":1,"call":"create","key":"sge.1","limits":{"io_read_iops_max":")";
    EXPECT_TRUE(decodeWrapperRequest(begin + "/dev/vda 9\"}}"));
    EXPECT_FALSE(decodeWrapperRequest(begin + "/dev/shm/alice/disk 9\"}}"));
}

class RecordOfLiveJob : public testing::TestWithParam<int> {};

TEST_P(RecordOfLiveJob, isUnderstood) {
    std::ifstream file(std::string(PINFOLD_EARLIER) + "/live-job-schema-" + std::to_string(GetParam()) + ".json");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto record = decodeJobRecord(text);
    ASSERT_TRUE(record) << record.error().message;
    EXPECT_EQ(record->key.text(), "sge.11");
    EXPECT_EQ(record->state, JobState::Running);
    EXPECT_EQ(record->limits.memoryMax, 1U << 30);
    EXPECT_EQ(record->limits.tasksMax, 200U);
    EXPECT_EQ(record->limits.runTimeMax, 3'600'000'000U);
    EXPECT_TRUE(record->supervisor);
    ASSERT_EQ(record->tasks.size(), 1U);
    EXPECT_TRUE(record->tasks.at(0).leader);
    EXPECT_EQ(record->cause, std::nullopt);
    EXPECT_EQ(record->exit, ExitState{});
    EXPECT_EQ(record->slots, std::nullopt);
    EXPECT_EQ(record->identity, JobIdentity{});
    EXPECT_FALSE(record->taskLog);
    EXPECT_FALSE(record->figures);
    EXPECT_EQ(*decodeJobRecord(encode(*record)), *record) << "pinfoldd writes the record again as soon as the job changes";
}

INSTANTIATE_TEST_SUITE_P(OfSchema, RecordOfLiveJob, testing::Values(2, 4), testing::PrintToStringParamName());

} // namespace
} // namespace pinfold
