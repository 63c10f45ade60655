// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/cgroup_watch.hpp"

#include "tests/support/cpp/manual_event_loop.hpp"
#include "tests/support/cpp/temporary_directory.hpp"

#include <cerrno>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pinfold::test {
namespace {

class Watches : public TemporaryDirectory {
protected:
    Watches()
        : events(write("cgroup.events", "populated 1\n")), other(write("other", "populated 1\n")), watch(std::in_place, loop) {}

    /// When the kernel changes a file, inotify reports one event. To cause only one event, this function does not truncate the
    /// file before the write.
    static void change(const std::filesystem::path& file) {
        std::ofstream(file, std::ios::in | std::ios::out) << "populated 0\n" << std::flush;
    }
    EventHandle on(const std::filesystem::path& file, std::function<void()> handler) {
        auto watched = watch->watch(file, std::move(handler));
        EXPECT_TRUE(watched) << watched.error().message;
        return watched ? *std::move(watched) : nullptr;
    }

    ManualEventLoop loop;
    std::filesystem::path events;
    std::filesystem::path other;
    std::optional<CgroupWatch> watch;
};

} // namespace

TEST_F(Watches, aChangeIsTold) {
    int told = 0;
    const auto handle = on(events, [&] { ++told; });
    loop.settle();
    EXPECT_EQ(told, 0);
    change(events);
    loop.settle();
    EXPECT_EQ(told, 1);
    change(events);
    loop.settle();
    EXPECT_EQ(told, 2);
    change(other);
    loop.settle();
    EXPECT_EQ(told, 2);
}

TEST_F(Watches, theRemovalIsTold) {
    int told = 0;
    auto handle = on(events, [&] { ++told; });
    std::filesystem::remove(events);
    loop.settle();
    EXPECT_GE(told, 1);
    handle.reset(); // the kernel has already removed the watch of `handle`
    const auto again = on(write("cgroup.events", ""), [&] { told = 100; });
    change(events);
    loop.settle();
    EXPECT_EQ(told, 100);
}

TEST_F(Watches, severalOnOneFileAreEachTold) {
    int first = 0;
    int second = 0;
    auto one = on(events, [&] { ++first; });
    const auto two = on(events, [&] { ++second; });
    change(events);
    loop.settle();
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 1);
    one.reset();
    change(events);
    loop.settle();
    EXPECT_EQ(first, 1);
    EXPECT_EQ(second, 2);
}

TEST_F(Watches, aHandlerMayEndItself) {
    int told = 0;
    EventHandle handle;
    handle = on(events, [&, alive = std::make_shared<int>(7)] {
        handle.reset();
        told += *alive; // the handler's data must still exist after handle.reset()
    });
    change(events);
    change(events);
    loop.settle();
    EXPECT_EQ(told, 7);
}

TEST_F(Watches, aHandlerMayEndTheOthersWhoseEventsAreOnTheWay) {
    std::vector<EventHandle> handles(3);
    int told = 0;
    const auto endAll = [&] {
        ++told;
        handles.clear();
    };
    handles[0] = on(events, endAll);
    handles[1] = on(events, endAll);
    handles[2] = on(other, endAll);
    change(events);
    change(other);
    loop.settle();
    EXPECT_EQ(told, 1);
}

TEST_F(Watches, aHandlerMayAddOnTheSameFile) {
    int late = 0;
    EventHandle added;
    const auto first = on(events, [&] {
        if (!added)
            added = on(events, [&] { ++late; });
    });
    change(events);
    loop.settle();
    EXPECT_EQ(late, 0) << "a change before the registration is not told";
    change(events);
    loop.settle();
    EXPECT_EQ(late, 1);
}

TEST_F(Watches, aHandleMayOutliveTheWatch) {
    auto one = on(events, [] {});
    auto two = on(other, [] {});
    watch.reset();
    one.reset();
    two.reset();
    change(events);
    loop.settle();
    watch.emplace(loop);
    int told = 0;
    const auto fresh = on(events, [&] { ++told; });
    change(events);
    loop.settle();
    EXPECT_EQ(told, 1);
}

TEST_F(Watches, aFileThatIsNotThereIsAnError) {
    const auto watched = watch->watch(top() / "nowhere", [] {});
    ASSERT_FALSE(watched);
    EXPECT_EQ(watched.error().code, ErrorCode::Internal);
    EXPECT_NE(watched.error().message.find("nowhere"), std::string::npos);
}

TEST_F(Watches, aFullQueueTellsAll) {
    std::ifstream limit("/proc/sys/fs/inotify/max_queued_events");
    int most = 0;
    ASSERT_TRUE(limit >> most);
    int quiet = 0;
    const auto one = on(events, [] {});
    const auto two = on(other, [] {});
    const auto three = on(write("quiet", ""), [&] { ++quiet; });
    for (int i = 0; i <= most / 2; ++i) { // inotify merges successive equal events, so the loop alternates between two files
        change(events);
        change(other);
    }
    loop.settle();
    EXPECT_EQ(quiet, 1);
}

TEST_F(Watches, withoutAWatchTheFileIsToldOfEachSecondUntilThereIsOne) {
    static bool exhausted = false;
    exhausted = true;
    watch.emplace(loop, [](int inotify, const char* file, std::uint32_t mask) {
        errno = ENOSPC;
        return exhausted ? -1 : ::inotify_add_watch(inotify, file, mask);
    });
    std::vector<std::string> said;
    watch->onExhausted = [&](const std::string& line) { said.push_back(line); };
    int told = 0;
    int toldOther = 0;
    auto handle = on(events, [&] { ++told; });
    auto otherHandle = on(other, [&] { ++toldOther; });
    ASSERT_EQ(said.size(), 1U) << "once, not for each file";
    EXPECT_NE(said[0].find("fs.inotify.max_user_watches"), std::string::npos) << said[0];
    loop.advance(CgroupWatch::kLookAgain);
    loop.advance(CgroupWatch::kLookAgain);
    EXPECT_EQ(told, 2);
    EXPECT_EQ(toldOther, 2);
    otherHandle.reset();
    loop.advance(CgroupWatch::kLookAgain);
    EXPECT_EQ(toldOther, 2);

    exhausted = false;
    loop.advance(CgroupWatch::kLookAgain);
    EXPECT_EQ(told, 4) << "what happened before the watch was there is not told by it";
    EXPECT_EQ(loop.timers(), 0U);
    change(events);
    loop.settle();
    EXPECT_EQ(told, 5);
    handle.reset();
    change(events);
    loop.settle();
    EXPECT_EQ(told, 5);
}

TEST_F(Watches, anExceptionCostsNoOtherItsEvent) {
    int told = 0;
    const auto one = on(events, [] { throw std::runtime_error("no memory"); });
    const auto two = on(other, [&] { ++told; });
    change(events);
    change(other);
    EXPECT_THROW(loop.settle(), std::runtime_error);
    loop.settle();
    EXPECT_EQ(told, 1);
}

TEST_F(Watches, anExceptionDoesNotEndTheLooksWithoutAWatch) {
    watch.emplace(loop, [](int, const char*, std::uint32_t) {
        errno = ENOSPC;
        return -1;
    });
    int looks = 0;
    const auto handle = on(events, [&] {
        if (++looks == 1)
            throw std::runtime_error("no memory");
    });
    EXPECT_THROW(loop.advance(CgroupWatch::kLookAgain), std::runtime_error);
    loop.advance(CgroupWatch::kLookAgain);
    EXPECT_EQ(looks, 2);
}

TEST_F(Watches, aFileThatIsNotThereIsAnErrorAlsoThen) {
    watch.emplace(loop, [](int, const char*, std::uint32_t) {
        errno = ENOENT;
        return -1;
    });
    EXPECT_FALSE(watch->watch(events, [] {}));
    EXPECT_EQ(loop.timers(), 0U);
}

} // namespace pinfold::test
