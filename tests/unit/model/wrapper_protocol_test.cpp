// SPDX-License-Identifier: LGPL-2.1-or-later
#include "model/wrapper_protocol.hpp"
#include "tests/support/cpp/mutation.hpp"

#include <gtest/gtest.h>

namespace pinfold {
namespace {

WrapperRequest everyLimit() {
    WrapperCreate create{"sge.4711", {}};
    create.limits.memoryMax = 1 << 30;
    create.limits.cpuQuota = UINT64_MAX;
    create.limits.allowedCpus = *CpuList::parse("0-3,8");
    create.limits.runTimeMax = 1'000;
    return create;
}

WrapperRequest shepherdOfSlaveTask() {
    WrapperCreate create{"sge.4711", {}};
    create.role = WrapperRole::TaskOfOpen;
    create.owner = 1000;
    create.slots = 4;
    create.shepherd = true;
    return create;
}

WrapperRequest withIdentity() {
    WrapperCreate create{"sge.4711", {}};
    create.identity = {
        .jobName = "a \"job\"", .queue = "batch.q", .run = 0, .nodes = {"a", "b"}, .labels = {{"a", "b"}, {"c", ""}}};
    return create;
}

TEST(WrapperProtocol, requestsComeBackAsTheyWere) {
    for (const WrapperRequest& request :
         {WrapperRequest(WrapperCreate{"", {}}), everyLimit(),
          WrapperRequest(WrapperEnd{"sge.1", 77, {.status = 255, .signal = {}}}),
          WrapperRequest(WrapperEnd{"sge.1", 77, {.status = {}, .signal = 9}}),
          WrapperRequest(WrapperEnd{"sge.1", 77, {.status = 0, .signal = {}}, 3, true}),
          WrapperRequest(WrapperEnd{"sge.1", 77, {.status = 0, .signal = {}}, 3, true, true}),
          WrapperRequest(WrapperEnd{"slurm.1", 0, {}}),
          WrapperRequest(WrapperEnd{.key = "slurm.1", .exit = {}, .identity = {.queue = "long", .nodes = {"a", "b"}}}),
          WrapperRequest(WrapperSuspend{"sge.1"}), WrapperRequest(WrapperSuspend{"sge.1", true}), shepherdOfSlaveTask(),
          withIdentity(), WrapperRequest(WrapperList{1000}), WrapperRequest(WrapperAdopt{"sge.1", 1000})}) {
        const auto decoded = decodeWrapperRequest(encode(request));
        ASSERT_TRUE(decoded) << decoded.error().message;
        EXPECT_EQ(*decoded, request);
    }
}

TEST(WrapperProtocol, bytesThatAreNoTextArriveReplacedAndMakeNoTrouble) {
    const auto decoded = decodeWrapperRequest(encode(WrapperCreate{"sge.\xff\n", {}}));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(std::get<WrapperCreate>(*decoded).key, "sge.\xef\xbf\xbd\n");
}

TEST(WrapperProtocol, takesOnlyWhatPinfoldRunWrites) {
    const std::string deep(60'000, '[');
    for (const std::string& packet : std::initializer_list<std::string>{
             "",
             "{}",
             "null",
             "create",
             deep,
             deep + std::string(60'000, ']'),
             R"({"version":2,"call":"create","key":"a.1","limits":{}})",
             R"({"version":1,"call":"stop","key":"a.1"})",
             R"({"version":1,"call":"create","key":7,"limits":{}})",
             R"({"version":1,"call":"create","key":"a.1"})",
             R"({"version":1,"call":"create","key":"a.1","key":"b.1","limits":{}})",
             R"({"version":1,"call":"create","key":"a.1","limits":{},"ownr":0})",
             R"({"version":1,"call":"create","key":"a.1","limits":{},"owner":-1})",
             R"({"version":1,"call":"create","key":"a.1","limits":{},"role":"job"})",
             R"({"version":1,"call":"create","key":"a.1","limits":{},"shepherd":false})",
             R"({"version":1,"call":"create","key":"a.1","limits":{},"slots":1.5})",
             R"({"version":1,"call":"suspend"})",
             R"({"version":1,"call":"resume","key":"a.1","leader":5})",
             R"({"version":1,"call":"list"})",
             R"({"version":1,"call":"list","uid":-1})",
             R"({"version":1,"call":"list","uid":"alice"})",
             R"({"version":1,"call":"list","uid":4294967296})",
             R"({"version":1,"call":"list","key":"a.1","uid":1000})",
             R"({"version":1,"call":"adopt","key":"a.1"})",
             R"({"version":1,"call":"adopt","owner":1000})",
             R"({"version":1,"call":"adopt","key":"a.1","owner":1000,"pid":5})",
             R"({"version":1,"call":"create","key":"a.1","limits":{"memory_max":-1}})",
             R"({"version":1,"call":"create","key":"a.1","limits":{"memory_max":1.5}})",
             R"({"version":1,"call":"create","key":"a.1","limits":{"memory_max":18446744073709551616}})",
             R"({"version":1,"call":"create","key":"a.1","limits":{"allowed_cpus":"0-"}})",
             R"({"version":1,"call":"create","key":"a.1","limits":{"memory_maxx":1}})",
             R"({"version":1,"call":"create","key":"a.1","limits":{}} )",
             R"({"version":1,"call":"end","key":"a.1","leader":5})",
             R"({"version":1,"call":"end","key":"a.1","leader":4294967301,"exit_status":0})",
             R"({"version":1,"call":"end","key":"a.1","leader":5,"exit_status":256})",
             R"({"version":1,"call":"end","key":"a.1","leader":5,"exit_signal":0})",
             R"({"version":1,"call":"end","key":"a.1","leader":5,"exit_status":0,"exit_signal":9})"}) {
        const auto decoded = decodeWrapperRequest(packet);
        ASSERT_FALSE(decoded) << packet.substr(0, 100);
        EXPECT_EQ(decoded.error().code, ErrorCode::InvalidArgument);
        EXPECT_EQ(decoded.error().message.find('\n'), std::string::npos) << decoded.error().message;
    }
}

TEST(WrapperProtocol, answers) {
    for (const auto& reply :
         {WrapperReply{"sge.1", {}, {}, {}}, WrapperReply{"sge.1", {{"A", "b=c"}}, "line\n", "a\nb\n"},
          WrapperReply{"sge.1", {}, {}, {}, 3}, WrapperReply{"", {}, {}, {}, {}, {}, std::vector<WrapperJob>()},
          WrapperReply{"", {}, {}, {}, {}, {}, {{{"sge.2", ShownState::Running}, {"sge.1", ShownState::Ending}}}}})
        EXPECT_EQ(*decodeWrapperReply(encodeWrapperReply(reply)), reply);
    EXPECT_EQ(encodeWrapperReply(WrapperReply{"sge.1", {}, {}, {}}), R"({"key":"sge.1"})");
    for (const auto& row : errorTable()) {
        const auto reply = decodeWrapperReply(encodeWrapperReply(Error{row.code, "what was wrong"}));
        ASSERT_FALSE(reply);
        EXPECT_EQ(reply.error().code, row.code);
        EXPECT_EQ(reply.error().message, "what was wrong");
    }
    for (const char* packet : {"", "{}", "[]", R"({"key":1})", R"({"error":"Denied"})", R"({"key":"","jobs":[{"key":"a.1"}]})",
                               R"({"key":"","jobs":7})"})
        EXPECT_EQ(decodeWrapperReply(packet).error().code, ErrorCode::Internal) << packet;
    EXPECT_EQ(decodeWrapperReply(R"({"error":"FromTheFuture","message":"x"})").error().code, ErrorCode::Internal);
}

TEST(WrapperProtocol, anAnswerFitsIntoAPacketHoweverManyCommandsWereLeft) {
    WrapperReply reply{"sge.1", {}, {}, {}};
    reply.receipt.emplace();
    reply.receipt->key = "sge.1";
    reply.receipt->leftovers = {.count = 50, .cpu = {}, .commands = std::vector<std::string>(50, std::string(4096, '\x80'))};
    const auto packet = encodeWrapperReply(reply);
    EXPECT_LE(packet.size(), kMaxWrapperPacket);
    const auto read = decodeWrapperReply(packet);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->receipt->leftovers.count, 50U);
    EXPECT_TRUE(read->receipt->leftovers.commands.empty());
}

TEST(WrapperProtocol, whatDoesNotFitIsAnErrorThatSaysSo) {
    for (const auto& large : {Result<WrapperReply>(WrapperReply{"sge.1", {}, {}, std::string(kMaxWrapperPacket, 'x')}),
                              Result<WrapperReply>(Error{ErrorCode::Denied, std::string(kMaxWrapperPacket, '\n')})}) {
        const auto packet = encodeWrapperReply(large);
        EXPECT_LE(packet.size(), kMaxWrapperPacket);
        const auto read = decodeWrapperReply(packet);
        ASSERT_FALSE(read);
        EXPECT_NE(read.error().message.find("too large"), std::string::npos) << read.error().message;
    }
}

TEST(WrapperProtocol, whatIsDamagedIsRefusedOrReadAsItIsWrittenNow) {
    Mutator mutator;
    unsigned refused = 0;
    for (int i = 0; i < 20'000; ++i) {
        const auto packet =
            mutator.mutate(encode(i % 2 == 0 ? WrapperRequest(WrapperList{1000}) : WrapperAdopt{"sge.4711", 1000}));
        const auto decoded = decodeWrapperRequest(packet);
        if (decoded)
            ASSERT_EQ(encode(*decoded), packet);
        else
            ++refused;
    }
    EXPECT_GT(refused, 15'000U);
    const auto jobs = encodeWrapperReply(
        WrapperReply{"", {}, {}, {}, {}, {}, {{{"sge.2", ShownState::Running}, {"sge.1", ShownState::Ending}}}});
    for (int i = 0; i < 20'000; ++i)
        (void)decodeWrapperReply(mutator.mutate(jobs)); // no packet makes the function throw
}

} // namespace
} // namespace pinfold
