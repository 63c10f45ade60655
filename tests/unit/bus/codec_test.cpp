// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/codec.hpp"

#include "base/parse.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace pinfold {
namespace {

using sdbus::Variant;

template <class T> Result<CreateRequest> create(const std::string& name, const T& value) {
    CreateRequest request;
    if (auto decoded = decodeCreateOptions({{name, Variant(value)}}, request); !decoded)
        return decoded.error();
    return request;
}

/// The message of the error that a decoder must end with.
template <class R> std::string refusal(const R& result) {
    if (result)
        return "accepted";
    EXPECT_EQ(result.error().code, ErrorCode::InvalidArgument);
    const auto& message = result.error().message;
    for (const char c : message)
        EXPECT_TRUE(c >= 0x20 || c < 0) << "control character in: " << message;
    return message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(Codec, takesNumbersOfEveryWidth) {
    EXPECT_EQ(create("tasks_max", std::uint64_t{5})->limits.tasksMax, 5U);
    EXPECT_EQ(create("tasks_max", std::uint32_t{5})->limits.tasksMax, 5U);
    EXPECT_EQ(create("tasks_max", std::uint16_t{5})->limits.tasksMax, 5U);
    EXPECT_EQ(create("tasks_max", std::uint8_t{5})->limits.tasksMax, 5U);
    EXPECT_EQ(create("tasks_max", std::int64_t{5})->limits.tasksMax, 5U);
    EXPECT_EQ(create("tasks_max", std::int32_t{5})->limits.tasksMax, 5U);
    EXPECT_EQ(create("tasks_max", std::int16_t{5})->limits.tasksMax, 5U);
    EXPECT_EQ(create("memory_max", std::numeric_limits<std::uint64_t>::max())->limits.memoryMax, kInfinity);
}

TEST(Codec, takesEveryLimitAndNothingElseIsSet) {
    CreateRequest request;
    ASSERT_TRUE(decodeCreateOptions({{"memory_max", Variant(std::uint64_t{1} << 30)},
                                     {"cpu_quota", Variant(std::uint64_t{2'000'000})},
                                     {"cpu_weight", Variant(std::uint64_t{50})},
                                     {"allowed_cpus", Variant(std::string("0-3,8"))},
                                     {"tasks_max", Variant(std::uint64_t{9})},
                                     {"run_time_max", Variant(std::uint64_t{60'000'000})},
                                     {"uid", Variant(std::uint32_t{1000})}},
                                    request));
    EXPECT_EQ(request.limits, (ResourceLimits{.memoryMax = 1ULL << 30,
                                              .cpuQuota = 2'000'000,
                                              .cpuWeight = 50,
                                              .allowedCpus = *CpuList::parse("0-3,8"),
                                              .tasksMax = 9,
                                              .runTimeMax = 60'000'000}));
    EXPECT_EQ(request.owner, 1000U);
    EXPECT_FALSE(request.supervisor);
    EXPECT_TRUE(request.key.empty());
}

TEST(Codec, namesWhatItRefuses) {
    EXPECT_TRUE(has(refusal(create("memory_max", std::string("1G"))), "'memory_max' has type s: a number is expected"));
    EXPECT_TRUE(has(refusal(create("memory_max", 1.5)), "'memory_max' has type d: a number is expected"));
    EXPECT_TRUE(has(refusal(create("memory_max", true)), "'memory_max' has type b: a number is expected"));
    EXPECT_TRUE(has(refusal(create("memory_max", std::int64_t{-1})), "'memory_max' is negative: -1"));
    EXPECT_TRUE(has(refusal(create("allowed_cpus", std::uint64_t{3})), "'allowed_cpus' has type t: a string is expected"));
    EXPECT_TRUE(has(refusal(create("allowed_cpus", std::string("3-1"))), "3-1"));
    EXPECT_TRUE(has(refusal(create("supervisor", std::uint32_t{1})), "'supervisor' has type u: a descriptor (h) is expected"));
    EXPECT_TRUE(has(refusal(create("uid", std::uint32_t{UINT32_MAX})), "'uid' is 4294967295"));
    EXPECT_TRUE(has(refusal(create("uid", std::uint64_t{1} << 32)), "'uid' is 4294967296"));
}

TEST(Codec, refusesWhatIsNoOptionOfOurs) {
    for (const char* name : {"Description", "Slice", "ExecStart", "Delegate", "MemoryMax", "pid", "", "memory_max "})
        EXPECT_TRUE(has(refusal(create(name, std::string("x"))), "unknown entry '" + std::string(name) + "'")) << name;
    const auto message = refusal(create("x\nTasksMax=7\x1b[31m", std::string("x")));
    EXPECT_TRUE(has(message, "unknown entry")) << message;
    EXPECT_LT(refusal(create(std::string(100'000, 'x'), std::uint32_t{1})).size(), 300U) << "no echo of what is too long";
}

TEST(Codec, textIsBounded) {
    EXPECT_TRUE(has(refusal(create("allowed_cpus", std::string(65'537, '1'))), "longer than 64 KiB"));
    EXPECT_TRUE(has(refusal(decodeReceiptFilter({{"key", Variant(std::string(65'537, 'k'))}})), "longer than 64 KiB"));
    EXPECT_TRUE(decodeReceiptFilter({{"key", Variant(std::string(65'536, 'k'))}}));
}

TEST(Codec, textWithALineBreakStaysOneLineInTheError) {
    EXPECT_NE(refusal(create("allowed_cpus", std::string("0\nTasksMax=7"))), "accepted");
}

TEST(Codec, readsHowALeaderEnded) {
    const auto exited = decodeEndOptions({{"exit_status", Variant(std::int32_t{255})}, {"leader", Variant(std::uint32_t{815})}});
    ASSERT_TRUE(exited);
    EXPECT_EQ(exited->exit, (ExitState{.status = 255, .signal = {}}));
    EXPECT_EQ(exited->leader, 815);
    EXPECT_EQ(decodeEndOptions({{"exit_signal", Variant(std::int32_t{64})}})->exit, (ExitState{.status = {}, .signal = 64}));
    EXPECT_FALSE(decodeEndOptions({})->exit.known());

    EXPECT_TRUE(has(refusal(decodeEndOptions({{"exit_status", Variant(std::int32_t{256})}})), "0 to 255"));
    EXPECT_TRUE(has(refusal(decodeEndOptions({{"exit_signal", Variant(std::int32_t{0})}})), "1 to 64"));
    EXPECT_TRUE(has(refusal(decodeEndOptions({{"exit_signal", Variant(std::int32_t{65})}})), "1 to 64"));
    EXPECT_TRUE(has(refusal(decodeEndOptions({{"leader", Variant(std::uint32_t{1})}})), "'leader' is 1"));
    EXPECT_TRUE(
        has(refusal(decodeEndOptions({{"exit_status", Variant(std::int32_t{1})}, {"exit_signal", Variant(std::int32_t{9})}})),
            "exclude each other"));
}

TEST(Codec, readsTheGrace) {
    EXPECT_EQ(*decodeStopOptions({}), std::nullopt);
    EXPECT_EQ(*decodeStopOptions({{"grace", Variant(std::uint64_t{0})}}), 0U) << "at once is not the default";
    EXPECT_EQ(*decodeStopOptions({{"grace", Variant(std::uint64_t{3'600'000'000})}}), 3'600'000'000U);
    EXPECT_TRUE(has(refusal(decodeStopOptions({{"grace", Variant(std::uint64_t{3'600'000'001})}})), "'grace' is 3600000001"));
}

TEST(Codec, readsTheFilterOfReceipts) {
    const auto filter = decodeReceiptFilter({{"key", Variant(std::string("sge.1"))},
                                             {"uid", Variant(std::uint32_t{0})},
                                             {"since", Variant(std::uint64_t{1})},
                                             {"until", Variant(std::uint64_t{2})},
                                             {"limit", Variant(std::uint32_t{10'000})}});
    ASSERT_TRUE(filter);
    EXPECT_EQ(filter->key, "sge.1");
    EXPECT_EQ(filter->uid, 0U);
    EXPECT_EQ(filter->since, 1U);
    EXPECT_EQ(filter->until, 2U);
    EXPECT_EQ(filter->limit, 10'000U);
    EXPECT_EQ(decodeReceiptFilter({})->limit, 100U);
    EXPECT_TRUE(has(refusal(decodeReceiptFilter({{"limit", Variant(std::uint32_t{0})}})), "1 to 10000"));
    EXPECT_TRUE(has(refusal(decodeReceiptFilter({{"limit", Variant(std::uint32_t{10'001})}})), "1 to 10000"));
}

TEST(Codec, readsWhichKindsOfReceipts) {
    const auto filter = decodeReceiptFilter({{"result", Variant(std::string("out-of-memory"))},
                                             {"scheduler", Variant(std::string("sge2"))},
                                             {"failed", Variant(true)},
                                             {"leftovers", Variant(true)}});
    ASSERT_TRUE(filter);
    EXPECT_EQ(filter->result, "out-of-memory");
    EXPECT_EQ(filter->scheduler, "sge2");
    EXPECT_EQ(filter->outcomes, std::vector{JobOutcome::Failed});
    EXPECT_TRUE(filter->leftoversOnly);
    EXPECT_TRUE(decodeReceiptFilter({{"failed", Variant(false)}})->outcomes.empty());
    EXPECT_EQ(decodeReceiptFilter({{"failed", Variant(true)}, {"unknown", Variant(true)}})->outcomes,
              (std::vector{JobOutcome::Failed, JobOutcome::Unknown}));
    const auto none = decodeReceiptFilter({});
    EXPECT_FALSE(none->result || none->scheduler || !none->outcomes.empty() || none->leftoversOnly);

    EXPECT_TRUE(has(refusal(decodeReceiptFilter({{"result", Variant(std::string("exit\n"))}})),
                    "'result' is 'exit\\x0a': use one of exited, signaled, stopped, timeout, out-of-memory, supervisor-lost, "
                    "node-shutdown, node-lost, lost"));
    EXPECT_TRUE(has(refusal(decodeReceiptFilter({{"result", Variant(std::uint32_t{1})}})), "'result' has type u"));
    for (const char* name : {"", "sge.1", "SGE", "sge' OR 1"})
        EXPECT_TRUE(has(refusal(decodeReceiptFilter({{"scheduler", Variant(std::string(name))}})), "'scheduler' is '")) << name;
    for (const char* name : {"failed", "unknown", "leftovers"})
        EXPECT_TRUE(has(refusal(decodeReceiptFilter({{name, Variant(std::uint32_t{1})}})), "has type u: a boolean is expected"));
}

TEST(Codec, readsWhatMayBeKept) {
    const auto retention = decodeRetention({{"max_age", Variant(std::uint64_t{0})}, {"max_size", Variant(std::uint32_t{7})}});
    ASSERT_TRUE(retention);
    EXPECT_EQ(retention->maxAge, 0U);
    EXPECT_EQ(retention->maxBytes, 7U);
    EXPECT_FALSE(decodeRetention({})->maxAge || decodeRetention({})->maxBytes);
    EXPECT_TRUE(has(refusal(decodeRetention({{"max_age", Variant(std::string("1d"))}})), "'max_age' has type s"));
    EXPECT_TRUE(has(refusal(decodeRetention({{"max_rows", Variant(std::uint32_t{7})}})), "unknown entry 'max_rows'"));
}

TEST(Codec, writesOnlyWhatIsKnown) {
    EXPECT_TRUE(encodeLimits({}).empty());
    EXPECT_TRUE(encodeUsage({}).empty());
    ResourceLimits some;
    some.memoryMax = kInfinity;
    some.allowedCpus = *CpuList::parse("3,1-2");
    const auto limits = encodeLimits(some);
    EXPECT_EQ(limits.size(), 2U);
    EXPECT_EQ(limits.at("memory_max").get<std::uint64_t>(), kInfinity);
    EXPECT_EQ(limits.at("allowed_cpus").get<std::string>(), "1-3");

    Usage usage;
    usage.cpuUser = 0;
    EXPECT_EQ(encodeUsage(usage).size(), 1U) << "zero is known";
}

TEST(Codec, whatItWritesOfLimitsItReads) {
    ResourceLimits limits;
    limits.memoryMax = 1 << 20;
    limits.cpuQuota = 10'000;
    limits.allowedCpus = *CpuList::parse("0,8191");
    limits.tasksMax = kInfinity;
    CreateRequest request;
    ASSERT_TRUE(decodeCreateOptions(encodeLimits(limits), request));
    EXPECT_EQ(request.limits, limits);
}

TEST(Codec, writesAReceipt) {
    Receipt receipt;
    receipt.id = "1";
    receipt.key = "sge.1";
    receipt.exit.signal = 9;
    receipt.leftovers = {.count = 1, .cpu = 5, .commands = {"secret --password=x"}};
    receipt.limitsNotEnforced = {"tasks_max"};
    const auto dict = encodeReceipt(receipt);
    EXPECT_EQ(dict.at("limits_not_enforced").get<std::vector<std::string>>(), receipt.limitsNotEnforced);
    EXPECT_EQ(dict.at("leftovers").get<std::uint32_t>(), 1U);
    EXPECT_EQ(dict.at("exit_signal").get<std::int32_t>(), 9);
    EXPECT_FALSE(dict.contains("exit_status"));
    EXPECT_FALSE(dict.contains("stopped_by"));
    EXPECT_EQ(dict.at("leftover_commands").get<std::vector<std::string>>(), receipt.leftovers.commands);
}

TEST(Codec, tellsEverybodyLessOfAKillThanTheReceiptSays) {
    OomVerdict verdict;
    verdict.cause = OomCause::OwnLimit;
    verdict.at = 5;
    verdict.victimName = "secret";
    verdict.limit = 48;
    EXPECT_EQ(encodeOom(verdict).size(), 4U);
    const auto news = encodeOomNews(verdict);
    EXPECT_EQ(news.size(), 2U);
    EXPECT_EQ(news.at("oom_cause").get<std::string>(), "own-limit");
    EXPECT_EQ(news.at("oom_at").get<std::uint64_t>(), 5U);
}

TEST(Codec, describesAJob) {
    JobSummary job{*JobKey::parse("sge.4711"), JobState::Running, 1000, 815, 7, false, {}, {}, {0, 2}};
    const auto dict = encodeSummary(job);
    EXPECT_EQ(dict.at("state").get<std::string>(), "running");
    EXPECT_EQ(dict.at("job").get<sdbus::ObjectPath>(), "/org/pinfold1/job/sge_2e4711");
    EXPECT_EQ(dict.at("unit").get<std::string>(), "job-sge.4711.scope");
    EXPECT_EQ(dict.at("tasks").get<std::uint32_t>(), 2U);
    job.suspended = true;
    EXPECT_EQ(encodeSummary(job).at("state").get<std::string>(), "suspended");
}

TEST(Codec, closesDescriptorsOnExec) {
    const UniqueFd pipeEnd(::dup(STDERR_FILENO));
    const auto taken = takeFd(sdbus::UnixFd(pipeEnd.get()));
    ASSERT_TRUE(taken);
    EXPECT_NE(taken.get(), pipeEnd.get());
    EXPECT_NE(::fcntl(taken.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(Codec, givesEveryErrorItsName) {
    for (const auto& row : errorTable()) {
        const auto error = toBusError({row.code, "what was wrong"});
        EXPECT_EQ(bus::errorName(error), "org.pinfold1.Error." + std::string(row.dbusName));
        EXPECT_EQ(error.getMessage(), "what was wrong");
    }
}

} // namespace
} // namespace pinfold
