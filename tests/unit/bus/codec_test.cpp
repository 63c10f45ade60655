// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus/codec.hpp"

#include "base/parse.hpp"

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

/// Returns the message of the decoder's error, or "accepted".
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
    EXPECT_TRUE(has(refusal(create("memory_max", std::string("1G"))), "'memory_max' has type s: a number (t) is expected"));
    EXPECT_TRUE(has(refusal(create("memory_max", 1.5)), "'memory_max' has type d: a number (t) is expected"));
    EXPECT_TRUE(has(refusal(create("memory_max", true)), "'memory_max' has type b: a number (t) is expected"));
    EXPECT_TRUE(has(refusal(create("memory_max", std::int64_t{-1})), "'memory_max' is negative: -1"));
    EXPECT_TRUE(has(refusal(create("allowed_cpus", std::uint64_t{3})), "'allowed_cpus' has type t: a string (s) is expected"));
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

TEST(Codec, textIsBounded) { EXPECT_TRUE(has(refusal(create("allowed_cpus", std::string(65'537, '1'))), "longer than 64 KiB")); }

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
    EXPECT_EQ(*decodeStopOptions({{"grace", Variant(std::uint64_t{0})}}), 0s) << "at once is not the default";
    EXPECT_EQ(*decodeStopOptions({{"grace", Variant(std::uint64_t{3'600'000'000})}}), 1h);
    EXPECT_TRUE(has(refusal(decodeStopOptions({{"grace", Variant(std::uint64_t{3'600'000'001})}})), "'grace' is 3600000001"));
}

TEST(Codec, describesAJob) {
    JobSummary job{*JobKey::parse("sge.4711"), JobState::Running, 1000, 815, fromUsec<RealTime>(7), false, {}, {}, {0, 2}};
    const auto dict = toDict(infoOf(job));
    EXPECT_EQ(dict.at("state").get<std::string>(), "running");
    EXPECT_EQ(dict.at("job").get<sdbus::ObjectPath>(), "/org/pinfold1/job/sge_2e4711");
    EXPECT_EQ(dict.at("unit").get<std::string>(), "job-sge.4711.scope");
    EXPECT_EQ(dict.at("tasks").get<std::uint32_t>(), 2U);
    job.suspended = true;
    EXPECT_EQ(toDict(infoOf(job)).at("state").get<std::string>(), "suspended");
}

TEST(Codec, givesEveryErrorItsName) {
    for (const auto& row : errorTable()) {
        const auto error = toBusError({row.code, "what was wrong"});
        EXPECT_EQ(dbus::errorName(error), "org.pinfold1.Error." + std::string(row.dbusName));
        EXPECT_EQ(error.getMessage(), "what was wrong");
    }
}

} // namespace
} // namespace pinfold
