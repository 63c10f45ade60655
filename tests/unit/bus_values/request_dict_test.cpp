// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_values/request_dict.hpp"

#include "base/parse.hpp"
#include "bus_values/receipt_dict.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <string>

namespace pinfold {
namespace {

using sdbus::Variant;

/// Returns the message of the error, or "accepted" if the reader has returned no error.
template <class R> std::string refusal(const R& result) {
    if (result)
        return "accepted";
    EXPECT_EQ(result.error().code, ErrorCode::InvalidArgument);
    return result.error().message;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(RequestDict, limitsComeBack) {
    ResourceLimits limits;
    limits.memoryMax = 1 << 20;
    limits.cpuQuota = 10'000;
    limits.allowedCpus = *CpuList::parse("0,8191");
    limits.tasksMax = kInfinity;
    const auto read = readLimits(toDict(limits));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, limits);
    EXPECT_TRUE(has(refusal(readLimits({{"memory", Variant(std::uint64_t{1})}})), "unknown entry 'memory'"));
}

TEST(RequestDict, anAllocationComesBack) {
    AllocationRequest request;
    request.cpus = 4;
    request.gpuList = *CpuList::parse("0-1");
    request.exclusive = true;
    AllocationRequest read;
    EntryReaders readers;
    addAllocationReaders(readers, read);
    ASSERT_TRUE(readEntries(toDict(request), readers));
    EXPECT_EQ(toDict(read).size(), 3U);
    EXPECT_EQ(read.cpus, request.cpus);
    EXPECT_EQ(read.gpuList, request.gpuList);
    EXPECT_TRUE(read.exclusive);
}

TEST(RequestDict, anExitComesBack) {
    for (const auto& exit : {ExitState{}, ExitState{.status = 255, .signal = {}}, ExitState{.status = {}, .signal = 9}}) {
        ExitState read;
        EntryReaders readers;
        addExitReaders(readers, read);
        ASSERT_TRUE(readEntries(toDict(exit), readers));
        EXPECT_EQ(read, exit);
    }
}

TEST(RequestDict, whatABatchSystemSaysComesBack) {
    const JobIdentity identity{.jobName = "train me \\ <b>",
                               .account = std::string(1000, 'x'),
                               .arrayTask = 7,
                               .run = 0,
                               .submitDirectory = "/home/alice/run 3",
                               .nodes = {"node1", "node2"},
                               .labels = {{"project", "x=y"}}};
    JobIdentity read;
    EntryReaders readers;
    addIdentityReaders(readers, read);
    const auto done = readEntries(toDict(identity), readers);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(read, identity);
}

TEST(RequestDict, aFilterComesBack) {
    const ReceiptFilter filter{.key = "sge.1",
                               .uid = 0,
                               .since = fromUsec<RealTime>(1),
                               .until = fromUsec<RealTime>(2),
                               .before = "id-3",
                               .limit = 10'000,
                               .result = "lost",
                               .scheduler = "sge",
                               .leftoversOnly = true,
                               .outcomes = {JobOutcome::Failed, JobOutcome::Unknown}};
    const ReceiptFilter after{.label = LabelFilter{"a", "b=c"}, .after = 4711, .epoch = "e0"};
    const ReceiptFilter labelled{.label = LabelFilter{"a", std::nullopt}};
    const ReceiptFilter profiles{.profiles = true};
    for (const auto& sent : {filter, after, labelled, profiles, ReceiptFilter{}}) {
        const auto read = readReceiptFilter(toDict(sent));
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_EQ(*read, sent);
    }
}

TEST(RequestDict, textIsBounded) {
    EXPECT_TRUE(has(refusal(readReceiptFilter({{"key", Variant(std::string(65'537, 'k'))}})), "longer than 64 KiB"));
    EXPECT_TRUE(readReceiptFilter({{"key", Variant(std::string(65'536, 'k'))}}));
}

TEST(RequestDict, aRequestToRemoveReceiptsComesBack) {
    for (const auto& sent : {VacuumRequest{.retention = {.maxAge = 0s, .maxBytes = 7}, .dryRun = true}, VacuumRequest{}}) {
        const auto read = readVacuumRequest(toDict(sent));
        ASSERT_TRUE(read);
        EXPECT_EQ(read->retention.maxAge, sent.retention.maxAge);
        EXPECT_EQ(read->retention.maxBytes, sent.retention.maxBytes);
        EXPECT_EQ(read->dryRun, sent.dryRun);
    }
    EXPECT_TRUE(toDict(VacuumRequest{}).empty()) << "an older pinfoldd does not know the entry dry_run";
}

TEST(RequestDict, readsTheFilterOfReceipts) {
    const auto filter = readReceiptFilter({{"key", Variant(std::string("sge.1"))},
                                           {"uid", Variant(std::uint32_t{0})},
                                           {"since", Variant(std::uint64_t{1})},
                                           {"until", Variant(std::uint64_t{2})},
                                           {"limit", Variant(std::uint32_t{10'000})}});
    ASSERT_TRUE(filter);
    EXPECT_EQ(filter->key, "sge.1");
    EXPECT_EQ(filter->uid, 0U);
    EXPECT_EQ(filter->since, fromUsec<RealTime>(1));
    EXPECT_EQ(filter->until, fromUsec<RealTime>(2));
    EXPECT_EQ(filter->limit, 10'000U);
    EXPECT_EQ(readReceiptFilter({})->limit, 100U);
    EXPECT_TRUE(has(refusal(readReceiptFilter({{"limit", Variant(std::uint32_t{0})}})), "1 to 10000"));
    EXPECT_TRUE(has(refusal(readReceiptFilter({{"limit", Variant(std::uint32_t{10'001})}})), "1 to 10000"));
}

TEST(RequestDict, readsWhichKindsOfReceipts) {
    const auto filter = readReceiptFilter({{"result", Variant(std::string("out-of-memory"))},
                                           {"scheduler", Variant(std::string("sge2"))},
                                           {"failed", Variant(true)},
                                           {"leftovers", Variant(true)}});
    ASSERT_TRUE(filter);
    EXPECT_EQ(filter->result, "out-of-memory");
    EXPECT_EQ(filter->scheduler, "sge2");
    EXPECT_EQ(filter->outcomes, std::vector{JobOutcome::Failed});
    EXPECT_TRUE(filter->leftoversOnly);
    EXPECT_TRUE(readReceiptFilter({{"failed", Variant(false)}})->outcomes.empty());
    EXPECT_EQ(readReceiptFilter({{"failed", Variant(true)}, {"unknown", Variant(true)}})->outcomes,
              (std::vector{JobOutcome::Failed, JobOutcome::Unknown}));
    const auto none = readReceiptFilter({});
    EXPECT_FALSE(none->result || none->scheduler || !none->outcomes.empty() || none->leftoversOnly);

    EXPECT_TRUE(has(refusal(readReceiptFilter({{"result", Variant(std::string("exit\n"))}})),
                    "'result' is 'exit\\x0a': use exited, signaled, stopped, timeout, out-of-memory, supervisor-lost, "
                    "node-shutdown, node-lost or lost"));
    EXPECT_TRUE(has(refusal(readReceiptFilter({{"result", Variant(std::uint32_t{1})}})), "'result' has type u"));
    for (const char* name : {"", "sge.1", "SGE", "sge' OR 1"})
        EXPECT_TRUE(has(refusal(readReceiptFilter({{"scheduler", Variant(std::string(name))}})), "'scheduler' is '")) << name;
    for (const char* name : {"failed", "unknown", "leftovers"})
        EXPECT_TRUE(
            has(refusal(readReceiptFilter({{name, Variant(std::uint32_t{1})}})), "has type u: a boolean (b) is expected"));
}

TEST(RequestDict, readsWhatMayBeKept) {
    const auto request = readVacuumRequest({{"max_age", Variant(std::uint64_t{0})}, {"max_size", Variant(std::uint32_t{7})}});
    ASSERT_TRUE(request);
    EXPECT_EQ(request->retention.maxAge, 0s);
    EXPECT_EQ(request->retention.maxBytes, 7U);
    const auto empty = readVacuumRequest({});
    EXPECT_FALSE(empty->retention.maxAge || empty->retention.maxBytes || empty->dryRun);
    EXPECT_TRUE(has(refusal(readVacuumRequest({{"max_age", Variant(std::string("1d"))}})), "'max_age' has type s"));
    EXPECT_TRUE(has(refusal(readVacuumRequest({{"max_rows", Variant(std::uint32_t{7})}})), "unknown entry 'max_rows'"));
}

TEST(RequestReader, closesDescriptorsOnExec) {
    const UniqueFd pipeEnd(::dup(STDERR_FILENO));
    const auto taken = takeFd(sdbus::UnixFd(pipeEnd.get()));
    ASSERT_TRUE(taken);
    EXPECT_NE(taken.get(), pipeEnd.get());
    EXPECT_NE(::fcntl(taken.get(), F_GETFD) & FD_CLOEXEC, 0);
}

} // namespace
} // namespace pinfold
