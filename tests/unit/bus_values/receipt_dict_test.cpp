// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_values/receipt_dict.hpp"

#include "base/parse.hpp"
#include "tests/support/cpp/member_count.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace pinfold {
namespace {

// fill() changes a member of an empty receipt, so that the tests notice a lost member.
void fill(std::string& value, std::uint64_t number) { value = "text " + std::to_string(number); }
void fill(std::vector<std::string>& value, std::uint64_t number) { value = {"one", std::to_string(number)}; }
void fill(JobResult& value, std::uint64_t) { value = JobResult::NodeLost; }
void fill(TaskKind& value, std::uint64_t) { value = TaskKind::Login; }
void fill(bool& value, std::uint64_t) { value = true; }
void fill(Labels& value, std::uint64_t number) { value = {{"name", std::to_string(number)}, {"other", ""}}; }
template <class T>
requires std::is_integral_v<T>
void fill(T& value, std::uint64_t number) { value = static_cast<T>(100 + number); }
template <class T>
requires kIsTime<T>
void fill(T& value, std::uint64_t number) { value = fromUsec<T>(100 + number); }
template <class T> void fill(std::optional<T>& value, std::uint64_t number) { fill(value.emplace(), number); }

Usage fullUsage() {
    Usage usage;
    std::uint64_t number = 0;
    forEachUsage(usage, [&number](const char*, auto& value) { fill(value, ++number); });
    usage.ioDevices = {{"8:0", 1, 2, 3, 4}, {"259:1", 5, 6, 7, UINT64_MAX}};
    return usage;
}

OomVerdict fullVerdict() {
    OomVerdict verdict;
    verdict.cause = OomCause::OwnLimit;
    verdict.at = fromUsec<RealTime>(5);
    std::uint64_t number = 0;
    forEachOomDetail(verdict, [&number](const char*, auto& value) { fill(value, ++number); });
    return verdict;
}

ResourceLimits someLimits() {
    ResourceLimits limits;
    limits.memoryMax = kInfinity;
    limits.cpuQuota = 10'000;
    limits.allowedCpus = *CpuList::parse("0,8191");
    limits.oomPolicy = OomPolicy::Process;
    return limits;
}

std::vector<TaskReceipt> someTasks() {
    TaskReceipt full;
    std::uint64_t number = 0;
    forEachTaskField(full, [&number](const char*, auto& value) { fill(value, ++number); });
    return {{.number = 0, .kind = TaskKind::Batch}, full, {.number = 9, .exit = {.status = 0}, .cpu = 0us, .memoryPeak = 0}};
}

Receipt fullReceipt() {
    Receipt receipt;
    std::uint64_t number = 0;
    forEachReceiptField(receipt, [&number](const char*, auto& value) { fill(value, ++number); });
    receipt.usage = fullUsage();
    receipt.oom = fullVerdict();
    receipt.limits = someLimits();
    receipt.allocation.cpus = *CpuList::parse("2-3");
    receipt.allocation.gpus = *CpuList::parse("1");
    receipt.allocation.exclusive = true;
    forEachIdentityField(receipt.identity, [&number](const char*, auto& value) { fill(value, ++number); });
    receipt.taskList = someTasks();
    return receipt;
}

TEST(ReceiptDict, aReceiptComesBackWhole) {
    for (const auto& receipt : {Receipt{}, fullReceipt()})
        EXPECT_EQ(receiptFrom(toDict(receipt)), receipt);
}

TEST(ReceiptDict, aProfileComesBackIfItIsWanted) {
    Receipt sent;
    EXPECT_FALSE(toDictWithProfile(sent).contains("profile"));
    sent.profile = std::string("\x01\x00\xff", 3);
    EXPECT_FALSE(toDict(sent).contains("profile"));
    EXPECT_EQ(receiptFrom(toDictWithProfile(sent)).profile, sent.profile);
}

// If you add a member to a struct of a receipt, find the function that calls `f(name, member)` for each member. In this
// function, add a line for the new member of the struct.
TEST(ReceiptDict, everyMemberOfAReceiptIsAFieldOrAPart) {
    const auto count = [](std::size_t& fields) { return [&fields](const char*, const auto&) { ++fields; }; };
    std::size_t ofReceipt = 0;
    const Receipt receipt;
    forEachReceiptField(receipt, count(ofReceipt));
    std::size_t ofIdentity = 0;
    forEachIdentityField(receipt.identity, count(ofIdentity));
    std::size_t ofTask = 0;
    const TaskReceipt task;
    forEachTaskField(task, count(ofTask));
    std::size_t ofUsage = 0;
    forEachUsage(receipt.usage, count(ofUsage));
    EXPECT_EQ(ofUsage, kMembers<Usage> - 1) << "ioDevices is a list";
    EXPECT_EQ(ofIdentity, kMembers<JobIdentity>);
    EXPECT_EQ(ofTask, kMembers<TaskReceipt> - 1 + kMembers<ExitState>) << "the exit state has fields of its own";
    constexpr std::size_t parts = 6; // each of usage, oom, limits, allocation, identity and taskList has its own table of fields
    constexpr std::size_t notPrinted = 4; // oomSaid, stopSaid, unwritten and profile are not in the JSON
    constexpr std::size_t split = 3;      // each member of the structs origin, exit and leftovers is a field
    EXPECT_EQ(ofReceipt,
              kMembers<Receipt> - parts - notPrinted - split + kMembers<Origin> + kMembers<ExitState> + kMembers<Leftovers>);
}

TEST(ReceiptDict, onlyWhatIsKnownHasAnEntry) {
    EXPECT_TRUE(toDict(ResourceLimits{}).empty());
    EXPECT_TRUE(toDict(Usage{}).empty());
    const auto limits = toDict(someLimits());
    EXPECT_EQ(limits.size(), 4U);
    EXPECT_EQ(limits.at("memory_max").get<std::uint64_t>(), kInfinity);
    EXPECT_EQ(limits.at("allowed_cpus").get<std::string>(), "0,8191");

    Usage usage;
    usage.cpuUser = 0s;
    EXPECT_EQ(toDict(usage).size(), 1U) << "zero is known";

    const auto receipt = toDict(Receipt{});
    for (const char* name : {"exit_status", "exit_signal", "stopped_by", "unkillable_processes", "oom_cause", "memory_max",
                             "sequence", "host", "account", "nodes", "labels"})
        EXPECT_FALSE(receipt.contains(name)) << name;
}

TEST(ReceiptDict, typesAreThoseOfTheInterface) {
    const auto dict = toDict(fullReceipt());
    for (const auto& [name, type] : {std::pair{"id", "s"},
                                     {"uid", "u"},
                                     {"started", "t"},
                                     {"result", "s"},
                                     {"tasks", "u"},
                                     {"exit_status", "i"},
                                     {"exit_signal", "i"},
                                     {"stopped_by", "u"},
                                     {"leftovers", "u"},
                                     {"leftover_cpu", "t"},
                                     {"leftover_commands", "as"},
                                     {"unkillable_processes", "u"},
                                     {"limits_not_enforced", "as"},
                                     {"cpu_user", "t"},
                                     {"io_devices", "a(stttt)"},
                                     {"oom_cause", "s"},
                                     {"exclusive", "b"},
                                     {"sequence", "t"},
                                     {"host", "s"},
                                     {"slots", "t"},
                                     {"account", "s"},
                                     {"array_task", "t"},
                                     {"nodes", "as"},
                                     {"labels", "a{ss}"},
                                     {"task_list", "aa{sv}"}})
        EXPECT_EQ(std::string(dict.at(name).peekValueType()), type) << name;
}

TEST(ReceiptDict, everybodyIsToldLessOfAKillThanTheReceiptSays) {
    const auto news = oomNews(fullVerdict());
    EXPECT_EQ(news.size(), 2U);
    EXPECT_EQ(news.at("oom_cause").get<std::string>(), "own-limit");
    EXPECT_EQ(news.at("oom_at").get<std::uint64_t>(), 5U);
    EXPECT_GT(toDict(fullVerdict()).size(), 2U);
}

TEST(ReceiptDict, whatANewerPinfolddAddsIsLeftOut) {
    auto dict = toDict(fullReceipt());
    put(dict, "colour", std::string("blue"));
    Dict task;
    put(task, "number", std::uint32_t{7});
    put(task, "kind", std::string("newer"));
    put(task, "command", std::string("sleep"));
    put(task, "started", std::uint64_t{1});
    put(task, "ended", std::uint64_t{2});
    put(task, "exit_signal", 9);
    put(task, "memory_peak", std::uint64_t{5});
    put(task, "exact", true);
    put(task, "colour", std::string("blue"));
    dict["task_list"] = sdbus::Variant(std::vector<Dict>{task});
    dict["oom_policy"] = sdbus::Variant(std::string("newer"));
    dict["oom_cause"] = sdbus::Variant(std::string("newer"));
    auto expected = fullReceipt();
    expected.limits.oomPolicy.reset();
    expected.oom.reset();
    expected.taskList = {{.number = 7,
                          .command = "sleep",
                          .started = fromUsec<RealTime>(1),
                          .ended = fromUsec<RealTime>(2),
                          .exit = {.signal = 9},
                          .memoryPeak = 5,
                          .exact = true}};
    EXPECT_EQ(receiptFrom(dict), expected);
}

TEST(ReceiptDict, anEntryOfAnotherTypeIsAnError) {
    EXPECT_THROW(receiptFrom({{"uid", sdbus::Variant(std::string("root"))}}), sdbus::Error);
}

TEST(ReceiptDict, theAllocationOfALiveJobHasItsEnvironment) {
    Allocation allocation;
    allocation.cpus = *CpuList::parse("4");
    allocation.environment = {{"OMP_NUM_THREADS", "1"}};
    auto dict = toDict(allocation);
    EXPECT_FALSE(dict.contains("environment"));
    put(dict, "environment", allocation.environment);
    const auto back = allocationFrom(dict);
    EXPECT_EQ(back.cpus, allocation.cpus);
    EXPECT_EQ(back.environment, allocation.environment);
}

} // namespace
} // namespace pinfold
