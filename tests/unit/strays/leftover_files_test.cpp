// SPDX-License-Identifier: LGPL-2.1-or-later
#include "strays/leftover_files.hpp"

#include <gtest/gtest.h>

#include <tuple>

namespace pinfold::test {
namespace {

constexpr RealTime kStart(1'000s);
constexpr RealTime kEnd(2'000s);
const EndedJob kEndedJob{kStart, kEnd, "sge.1"};

constexpr RealTime at(std::uint64_t usec) { return fromUsec<RealTime>(usec); }

UserFile born(std::optional<RealTime> at) {
    const auto touched = at.value_or(kStart + 5us);
    return userFile("/tmp", {"file", {.id = {1, 2}, .uid = 1000, .size = 4096, .born = at, .touched = touched}});
}

IpcObject segment(std::uint64_t seconds) { return {IpcKind::SharedMemory, 7, 42, 1000, 1000, 4096, 0, {}, seconds, 0}; }

using Names = std::vector<std::string>;

/// Returns a context in which pinfold is allowed to remove a leftover file.
LeftoverContext clear() { return {.now = kEnd + 1us}; }

std::optional<Kept> kept(const UserFile& file, const LeftoverContext& context = clear()) {
    return whyKept(file, {.started = kEndedJob.started, .ended = kEndedJob.ended, .count = 1, .keys = {kEndedJob.key}}, context);
}

} // namespace

TEST(Leftovers, belongToTheJobsInWhoseTimeTheyWereBorn) {
    const EndedJobs jobs(
        {{at(300), at(400), "late"}, {at(100), at(200), "early"}, {at(150), at(1000), "long"}, {at(100), at(200), "early"}});
    for (const auto& [time, names] : std::vector<std::pair<std::uint64_t, Names>>{{99, {}},
                                                                                  {100, {"early"}},
                                                                                  {160, {"early", "long"}},
                                                                                  {200, {"early", "long"}},
                                                                                  {201, {"long"}},
                                                                                  {350, {"long", "late"}},
                                                                                  {1000, {"long"}},
                                                                                  {1001, {}}})
        EXPECT_EQ(jobs.of(born(at(time))).keys, names) << time;
    EXPECT_EQ(EndedJobs({}).of(born(at(1))), JobsOfFile{});
}

TEST(Leftovers, haveAFewNamesHoweverManyJobsRan) {
    std::vector<EndedJob> jobs;
    for (std::uint64_t i = 0; i < 1000; ++i)
        jobs.push_back({at(100 + i), at(5000 - i), "sge." + std::to_string(i)});
    const auto found = EndedJobs(jobs).of(born(at(2000)));
    EXPECT_EQ((std::tuple{found.started, found.ended, found.count}), (std::tuple{at(100), at(5000), 1000U}));
    ASSERT_EQ(found.keys.size(), JobsOfFile::kMostKeys);
    EXPECT_EQ(found.keys.front(), "sge.0");
    EXPECT_EQ(found.keys.back(), "sge.19");
}

TEST(Leftovers, ofUnknownBirthGoByTheirLastChange) {
    EXPECT_EQ(EndedJobs({kEndedJob}).of(born(std::nullopt)).keys, Names{"sge.1"});
    EXPECT_EQ(kept(born(std::nullopt)), Kept::BirthUnknown);
}

TEST(Leftovers, timesOfIpcAreWholeSeconds) {
    const EndedJobs jobs({{at(1'500'000), at(3'500'000), "sge.1"}});
    for (const auto& [seconds, names] :
         std::vector<std::pair<std::uint64_t, Names>>{{0, {}}, {1, {"sge.1"}}, {2, {"sge.1"}}, {3, {"sge.1"}}, {4, {}}})
        EXPECT_EQ(jobs.of(userFile(segment(seconds))).keys, names) << seconds;
}

TEST(Leftovers, goWhenNothingSpeaksAgainstIt) {
    EXPECT_EQ(kept(born(kStart + 5us)), std::nullopt);
    EXPECT_EQ(kept(userFile(segment(kStart.time_since_epoch() / 1s))), std::nullopt);
}

TEST(Leftovers, areKeptForEachReasonAlone) {
    const auto file = born(kStart + 5us);
    const auto with = [](auto change) {
        auto context = clear();
        change(context);
        return context;
    };
    EXPECT_EQ(kept(file, with([](auto& c) { c.liveJob = true; })), Kept::LiveJob);
    EXPECT_EQ(kept(file, with([](auto& c) { c.processes = true; })), Kept::Processes);
    EXPECT_EQ(kept(file, with([](auto& c) { c.seen = false; })), Kept::Unseen);
    EXPECT_EQ(kept(file, with([](auto& c) { c.complete = false; })), Kept::Unknown);
    EXPECT_EQ(kept(file, with([](auto& c) { c.root = false; })), Kept::NotRoot);
    EXPECT_EQ(kept(file, with([](auto& c) { c.minAge = 1us; })), std::nullopt);
    EXPECT_EQ(kept(file, with([](auto& c) { c.minAge = 2us; })), Kept::Young);
    EXPECT_EQ(kept(file, with([](auto& c) { c.now = kEnd - 10us; })), Kept::Young) << "the clock was set back";

    auto used = file;
    used.tree.inUse = true;
    EXPECT_EQ(kept(used), Kept::InUse);
    auto changed = file;
    changed.tree.touched = kEnd + kMoment;
    EXPECT_EQ(kept(changed), std::nullopt);
    changed.tree.touched += 1us;
    EXPECT_EQ(kept(changed), Kept::Changed);
    auto older = file;
    older.tree.oldest = kStart - 1us;
    EXPECT_EQ(kept(older), Kept::Older);
    older.tree.oldest.reset();
    EXPECT_EQ(kept(older), Kept::BirthUnknown);
}

TEST(Leftovers, ofSeveralJobsCountFromTheFirstStartToTheLastEnd) {
    auto file = born(at(150));
    file.tree.oldest = at(100);
    file.tree.touched = at(1000) + kMoment;
    const EndedJob first{at(100), at(200), "a"};
    const EndedJob second{at(150), at(1000), "b"};
    const auto of = [](std::vector<EndedJob> jobs) { return EndedJobs(std::move(jobs)).of(born(at(150))); };
    EXPECT_EQ(whyKept(file, of({first, second}), {.now = at(1000)}), std::nullopt);
    EXPECT_EQ(whyKept(file, of({first, second}), {.now = at(1004), .minAge = 5us}), Kept::Young);
    EXPECT_EQ(whyKept(file, of({second}), {.now = at(1000)}), Kept::Older);
    EXPECT_EQ(whyKept(file, of({first}), {.now = at(1000)}), Kept::Changed);
}

TEST(Leftovers, haveNamesThatATerminalStands) {
    auto file = userFile("/tmp", {"a\nb\x1b[31m", {.uid = 1000, .directory = true}});
    EXPECT_EQ(nameOf(file), "/tmp/a\\x0ab\\x1b[31m");
    EXPECT_EQ(toString(file.kind), "tmp-directory");
    EXPECT_EQ(toString(userFile("/dev/shm", {"x", {.directory = true}}).kind), "shm-directory");
    EXPECT_EQ(toString(userFile("/dev/shm", {"x", {}}).kind), "shm-file");
    EXPECT_EQ(nameOf(userFile(segment(1))), "7 (key 0x0000002a)");
    EXPECT_EQ(toString(userFile(segment(1)).kind), "sysv-shm");
}

} // namespace pinfold::test
