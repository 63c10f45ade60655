// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/receipt_json.hpp"

#include "base/escape.hpp"
#include "model/limit_table.hpp"
#include "tests/support/cpp/mutation.hpp"

#include "tests/support/cpp/replaced.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

Receipt fullReceipt() {
    Receipt receipt;
    receipt.id = "id-3";
    receipt.key = "sge.1";
    receipt.uid = 1000;
    receipt.started = fromUsec<RealTime>(1);
    receipt.ended = fromUsec<RealTime>(2);
    receipt.wall = 3us;
    receipt.result = JobResult::Timeout;
    receipt.exit.signal = 15;
    receipt.stoppedBy = 1001;
    receipt.tasks = 4;
    receipt.leftovers = {.count = 1, .cpu = 2us, .commands = {"a b"}};
    receipt.unkillableProcesses = 2;
    receipt.usage.cpuUser = 0s;
    receipt.usage.memoryPeak = UINT64_MAX;
    receipt.usage.oomKills = 1;
    receipt.usage.ioDevices = {{"8:0", 1, 2, 3, 4}};
    receipt.suspended = 9us;
    receipt.limits.allowedCpus = *CpuList::parse("5");
    receipt.limitsNotEnforced = {"allowed_cpus"};
    receipt.sequence = 17;
    receipt.epoch = "e0";
    receipt.origin = {.host = "node1", .bootId = "b0", .cluster = "blue", .user = "alice", .version = "0.1.0"};
    receipt.slots = 4;
    receipt.identity.account = "physics";
    receipt.identity.nodes = {"node1", "node2"};
    receipt.identity.labels = {{"project", "x \\ \"y\""}};
    return receipt;
}

TEST(ReceiptJson, comesBack) {
    for (const auto& receipt : {Receipt{}, fullReceipt()}) {
        const auto decoded = decodeReceipt(encode(receipt));
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_EQ(*decoded, receipt);
    }
}

/// Returns the part of the history's text that describes the tasks.
std::string tasksIn(const std::string& text) {
    const auto begin = text.find("\"task_list\":");
    return begin == std::string::npos ? "" : text.substr(begin, text.find(']', begin) + 1 - begin);
}

void expectBack(const Receipt& receipt) {
    for (const auto& text : {encode(receipt), encodeForStore(receipt)}) {
        const auto decoded = decodeReceipt(text);
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_EQ(*decoded, receipt) << text;
    }
}

TEST(ReceiptJson, theOnlyTaskTakesHardlyAnyRoomInTheHistory) {
    auto receipt = fullReceipt();
    receipt.usage.cpuSystem = 7us;
    receipt.taskList = {onlyTask(receipt, "sh")};
    EXPECT_EQ(receipt.taskList[0].cpu, 7us);
    EXPECT_EQ(receipt.taskList[0].memoryPeak, UINT64_MAX);
    EXPECT_EQ(receipt.taskList[0].exit.signal, 15);
    EXPECT_TRUE(receipt.taskList[0].exact);
    EXPECT_EQ(tasksIn(encodeForStore(receipt)), R"("task_list":[{"command":"sh"}])");
    expectBack(receipt);
    receipt.taskList[0].started += 5us; // the job was opened before its batch script started
    EXPECT_EQ(tasksIn(encodeForStore(receipt)), R"("task_list":[{"command":"sh","started":6}])");
    expectBack(receipt);
    receipt.taskList = {onlyTask(receipt, "")};
    EXPECT_EQ(tasksIn(encodeForStore(receipt)), R"("task_list":[{}])");
    expectBack(receipt);
}

TEST(ReceiptJson, theOnlyTaskOfAJobWithoutABatchScriptIsWhole) {
    auto receipt = fullReceipt();
    receipt.taskList = {{.number = 1, .command = "sshd", .started = receipt.started, .ended = receipt.ended}};
    EXPECT_NE(encodeForStore(receipt).find(R"("number":1,"kind":"task","command":"sshd")"), std::string::npos);
    expectBack(receipt);
}

TEST(ReceiptJson, aTaskHasOnlyWhatIsKnown) {
    auto receipt = fullReceipt();
    receipt.taskList = {{.number = 0, .kind = TaskKind::Batch, .exit = receipt.exit, .cpu = 5us, .exact = true},
                        {.number = 3, .kind = TaskKind::Login, .command = "sshd", .started = receipt.started}};
    const auto text = tasksIn(encodeForStore(receipt));
    EXPECT_EQ(text.find("null"), std::string::npos);
    EXPECT_EQ(text.find("memory_peak"), std::string::npos);
    expectBack(receipt);
    EXPECT_FALSE(decodeReceipt(test::replaced(encode(receipt), "\"login\"", "\"logout\"")));
}

TEST(ReceiptJson, aReportAfterTheEndIsAboutTheBatchScriptToo) {
    auto receipt = fullReceipt();
    receipt.exit = {};
    receipt.taskList = {onlyTask(receipt, "sh"), {.number = 1}};
    ASSERT_TRUE(amend(receipt, {.status = 3, .signal = {}}));
    EXPECT_EQ(receipt.taskList[0].exit.status, 3);
    EXPECT_FALSE(receipt.taskList[1].exit.known());
}

TEST(ReceiptJson, theHistoryLeavesOutWhatIsUnknown) {
    const auto text = encodeForStore(Receipt{});
    EXPECT_EQ(text.find("null"), std::string::npos) << text;
    for (const char* name :
         {"exit_status", "unkillable_processes", "cpu_user", "memory_max", "account", "labels", "nodes", "sequence"})
        EXPECT_EQ(text.find(name), std::string::npos) << text;
    // An earlier pinfold refuses a receipt if one of the following JSON keys is missing.
    for (const char* name :
         {"id", "key", "uid", "started", "ended", "wall", "result", "tasks", "leftovers", "leftover_cpu", "leftover_commands"})
        EXPECT_NE(text.find("\"" + std::string(name) + "\":"), std::string::npos) << name;
}

TEST(ReceiptJson, unknownIsNull) {
    const auto text = encode(Receipt{});
    EXPECT_NE(text.find("\"labels\":{}"), std::string::npos) << text;
    for (const char* name : {"exit_status", "exit_signal", "stopped_by", "cpu_user", "memory_peak", "memory_max", "allowed_cpus"})
        EXPECT_NE(text.find("\"" + std::string(name) + "\":null"), std::string::npos) << text;
}

TEST(ReceiptJson, anOlderOneLacksWhatWasAddedSince) {
    const auto decoded = decodeReceipt(test::replaced(encode(fullReceipt()), "\"oom_kills\":1,", ""));
    ASSERT_TRUE(decoded) << decoded.error().message;
    const auto listless = decodeReceipt(test::replaced(encode(fullReceipt()), ",\"task_list\":[]", ""));
    ASSERT_TRUE(listless) << listless.error().message;
    EXPECT_TRUE(listless->taskList.empty());
    EXPECT_EQ(decoded->usage.oomKills, std::nullopt);
    const auto killable = decodeReceipt(test::replaced(encode(fullReceipt()), "\"unkillable_processes\":2,", ""));
    ASSERT_TRUE(killable) << killable.error().message;
    EXPECT_EQ(killable->unkillableProcesses, std::nullopt);
}

/// Adds four members to each object in the JSON value: a text, a number, a list and an object. Every version of pinfold writes
/// only whole numbers into a receipt.
void addMembers(nlohmann::json& json) {
    for (auto& [name, value] : json.items())
        if (value.is_structured() && name != "labels") // in "labels", a member of any name is a label
            addMembers(value);
    if (json.is_object())
        json.update({{"later_text", "x"}, {"later_number", 5}, {"later_list", {1, nullptr}}, {"later_object", {{"a", 1}}}});
}

TEST(ReceiptJson, whatALaterVersionAddsIsLeftOut) {
    auto receipt = fullReceipt();
    receipt.taskList = {{.number = 0, .kind = TaskKind::Batch, .command = "a"}, {.number = 1, .command = "b"}};
    auto json = nlohmann::json::parse(encode(receipt));
    addMembers(json);
    ASSERT_TRUE(json.contains("later_list") && json["task_list"][1].contains("later_list"));
    const auto decoded = decodeReceipt(json.dump());
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, receipt);
}

TEST(ReceiptJson, whatEveryPinfoldHasWrittenIsNeeded) {
    for (const char* member : {R"("id":"id-3",)", R"("result":"timeout",)", R"("leftovers":1,)"})
        EXPECT_FALSE(decodeReceipt(test::replaced(encode(fullReceipt()), member, ""))) << member;
    const auto older = decodeReceipt(test::replaced(encode(fullReceipt()), R"("suspended":9,)", ""));
    ASSERT_TRUE(older) << older.error().message;
    EXPECT_EQ(older->suspended, 0s);
}

TEST(ReceiptJson, aNumberThatIsNotOfOursIsRefused) {
    for (const char* number : {"1e300", "-1e300", "1.5", "18446744073709551616"})
        EXPECT_FALSE(decodeReceipt(test::replaced(encode(fullReceipt()), "\"wall\":3", "\"wall\":" + std::string(number))))
            << number;
    const std::string deep(60'000, '[');
    EXPECT_FALSE(decodeReceipt(deep + "1.5" + std::string(60'000, ']')));
}

// In JSON, a quotation mark takes two bytes.
std::string quotes(std::size_t count) { return std::string(count, '"'); }

template <class T> void fill(T& member) {
    if constexpr (std::is_same_v<T, std::string>)
        member = quotes(JobIdentity::kMostTextBytes);
    else if constexpr (kIsTime<T>)
        member = fromUsec<T>(INT64_MAX);
    else if constexpr (std::is_integral_v<T>)
        member = std::numeric_limits<T>::max();
}
template <class T> void fill(std::optional<T>& member) { fill(member.emplace()); }

/// Returns the list of CPUs with the longest text: a list of every second CPU.
CpuList longestList() {
    std::vector<unsigned> numbers;
    for (unsigned number = 0; number <= CpuList::kMaxCpu; number += 2)
        numbers.push_back(number);
    return CpuList::of(numbers);
}

DeviceAmounts mostDisks() {
    std::string text;
    for (std::size_t i = 0; i < DeviceAmounts::kMaxDevices; ++i) {
        const auto name = std::to_string(1000 + i) + " 9999999999999999999";
        text += (text.empty() ? "/dev/" : ",/dev/") + quotes(DeviceAmounts::kMaxPath - 9) + name;
    }
    return *DeviceAmounts::parse(text);
}

/// Returns a receipt in which each text and each list has its greatest allowed length. The number of the node's disks has no
/// limit, so the caller chooses this number.
Receipt largestReceipt(std::size_t disks) {
    Receipt receipt;
    const auto fillField = [](const char*, auto& member) { fill(member); };
    forEachReceiptField(receipt, fillField);
    forEachUsage(receipt.usage, fillField);
    dropCurrent(receipt.usage);
    forEachOomDetail(receipt.oom.emplace(), fillField);
    forEachIdentityField(receipt.identity, fillField);
    forEachLimit(receipt.limits, [&receipt](const LimitRow& row, auto& limit) {
        fill(limit);
        receipt.limitsNotEnforced.emplace_back(row.name);
    });
    auto& limits = receipt.limits;
    limits.deviceProfile = std::string(64, 'x');
    for (auto* list : {&limits.allowedCpus, &limits.allowedMemoryNodes})
        *list = longestList();
    for (auto* list : {&limits.ioReadBandwidthMax, &limits.ioWriteBandwidthMax, &limits.ioReadIopsMax, &limits.ioWriteIopsMax})
        *list = mostDisks();
    receipt.allocation.cpus = receipt.allocation.gpus = longestList();
    receipt.leftovers.commands.assign(Leftovers::kMostCommands + 1, quotes(100));
    receipt.leftovers.boundCommands();
    receipt.identity.nodes.assign(JobIdentity::kMostNodes, quotes(JobIdentity::kMostTextBytes));
    for (std::size_t i = 0; i < JobIdentity::kMostLabels; ++i)
        receipt.identity.labels[std::string(JobIdentity::kMostLabelNameBytes - 2, 'x') + std::to_string(10 + i)] =
            quotes(JobIdentity::kMostTextBytes);
    EXPECT_TRUE(validate(receipt.identity.labels));
    TaskReceipt task;
    forEachTaskField(task, fillField);
    task.command = printable(std::string(15, '\1')); // the kernel's names of programs have at most 15 bytes
    receipt.taskList.assign(TaskReceipt::kMost, task);
    receipt.usage.ioDevices.assign(disks, {"1048575:1048575", UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX});
    return receipt;
}

// If a receipt has more than 1 MiB, the archive's function put() stores the receipt only in the table `rejected`
// (src/archive/sql/0001.sql). pinfold's queries only count the receipts in the table `rejected`.
TEST(ReceiptJson, ofAReceiptWithEverythingAtItsBoundIsFarSmallerThanTheArchiveAccepts) {
    for (const auto& [disks, most] : {std::pair<std::size_t, std::size_t>{100, 320 << 10}, {1000, 460 << 10}}) {
        const auto receipt = largestReceipt(disks);
        for (const auto& text : {encode(receipt), encodeForStore(receipt)}) {
            EXPECT_LT(text.size(), most);
            EXPECT_GT(text.size(), most - most / 8) << "the archive's comment has another figure";
            const auto decoded = decodeReceipt(text);
            ASSERT_TRUE(decoded) << decoded.error().message;
            EXPECT_EQ(*decoded, receipt);
        }
    }
}

TEST(ReceiptJson, damageNeverThrows) {
    Mutator mutator;
    const auto text = encode(fullReceipt());
    int refused = 0;
    for (int i = 0; i < 5000; ++i)
        refused += decodeReceipt(mutator.mutate(text)) ? 0 : 1;
    EXPECT_GT(refused, 2500);
}

} // namespace
} // namespace pinfold
