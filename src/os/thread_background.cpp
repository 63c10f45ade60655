// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/thread_background.hpp"

#include "base/unique_fd.hpp"
#include "os/quiet_thread.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace pinfold {
namespace {

// The time for which an idle thread waits for more work before the thread ends. An idle thread waits, because jobs end in bursts,
// and starting a new thread takes longer than most work.
constexpr std::chrono::seconds kIdle{1};
// On a busy node a job starts or ends every few milliseconds, and pinfoldd logs a message for each start and end. Waking a thread
// for each message takes longer than writing the message. The thread of Lane::Journal collects messages for the time
// kJournalRest, and then writes all of them. The delay does not matter, because no caller waits until a message is written.
constexpr std::chrono::milliseconds kJournalRest{10};

struct Item {
    std::function<void()> work;
    std::uint64_t id; ///< identifies the call of run(); 0 if the caller passed no `then` function
};

struct LaneQueue {
    std::deque<Item> waiting;
    std::condition_variable wake;
    std::size_t threads = 0;
    std::size_t idle = 0; ///< the number of idle threads; a thread that was woken counts as idle until it has taken its work
    /// True while a thread of the lane pauses; after the pause, the thread looks for work even if nobody wakes it.
    bool resting = false;
};

} // namespace

struct ThreadBackground::Shared {
    std::mutex mutex;
    std::array<LaneQueue, kLanes> lanes;
    std::deque<std::uint64_t> done;
    bool closed = false;
    /// An eventfd(2) whose value is the number of elements in `done`.
    UniqueFd event{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)};

    void serve(Lane name);
    LaneQueue& laneOf(Lane name) { return lanes[static_cast<std::size_t>(name)]; }
    void finished(std::uint64_t id);
    static void rest(LaneQueue& lane, std::unique_lock<std::mutex>& lock);
    static bool startThread(const std::shared_ptr<Shared>& shared, Lane name);
};

void ThreadBackground::Shared::finished(std::uint64_t id) {
    if (closed)
        return;
    done.push_back(id);
    const std::uint64_t one = 1;
    (void)!::write(event.get(), &one, sizeof one); // write(2) to an eventfd fails only if 2^64 - 2 events are unread
}

void ThreadBackground::Shared::serve(Lane name) {
    auto& lane = laneOf(name);
    std::unique_lock lock(mutex);
    while (!closed) {
        if (lane.waiting.empty()) {
            ++lane.idle;
            const bool woken = lane.wake.wait_for(lock, kIdle, [&] { return closed || !lane.waiting.empty(); });
            --lane.idle;
            if (!woken)
                break;
            continue;
        }
        auto item = std::move(lane.waiting.front());
        lane.waiting.pop_front();
        lock.unlock();
        item.work();
        item.work = nullptr; // this thread destroys the data that `work` owns, because the destruction can block
        lock.lock();
        if (item.id != 0)
            finished(item.id);
        if (name == Lane::Journal && lane.waiting.empty())
            rest(lane, lock);
    }
    --lane.threads;
}

void ThreadBackground::Shared::rest(LaneQueue& lane, std::unique_lock<std::mutex>& lock) {
    lane.resting = true;
    lock.unlock();
    std::this_thread::sleep_for(kJournalRest);
    lock.lock();
    lane.resting = false;
}

bool ThreadBackground::Shared::startThread(const std::shared_ptr<Shared>& shared, Lane name) {
    auto& lane = shared->laneOf(name);
    ++lane.threads;
    try {
        startQuietThread([shared, name] { shared->serve(name); });
    } catch (const std::system_error&) { // the kernel could not start a thread
        --lane.threads;
        return false;
    }
    return true;
}

ThreadBackground::ThreadBackground(EventLoop& loop) : shared_(std::make_shared<Shared>()) {
    if (!shared_->event)
        throw std::system_error(errno, std::generic_category(), "eventfd");
    readable_ = loop.onReadable(shared_->event.get(), [this] { finishOne(); });
}

ThreadBackground::~ThreadBackground() {
    const std::lock_guard lock(shared_->mutex);
    shared_->closed = true;
    for (auto& lane : shared_->lanes) {
        lane.waiting.clear();
        lane.wake.notify_all();
    }
}

bool ThreadBackground::run(Lane laneName, std::function<void()> work, std::function<void()> then) {
    const auto bound = boundOf(laneName);
    std::unique_lock lock(shared_->mutex);
    auto& lane = shared_->laneOf(laneName);
    const bool needsThread = lane.waiting.size() >= lane.idle && lane.threads < bound.threads;
    const bool served = needsThread && Shared::startThread(shared_, laneName);
    // Work does not count as queued if an idle thread is about to take it.
    if (!served && (lane.threads == 0 || lane.waiting.size() >= bound.queued + lane.idle)) {
        lock.unlock(); // refuse() calls onRefused, which can call run()
        refuse(laneName);
        return false;
    }
    const auto id = then ? ++lastId_ : 0;
    if (then)
        then_.emplace(id, std::move(then));
    lane.waiting.push_back({std::move(work), id});
    const bool wakes = !lane.resting;
    lock.unlock(); // run() unlocks the mutex before it wakes the thread, so that the thread need not wait for the mutex
    if (wakes)
        lane.wake.notify_one();
    return true;
}

// Each turn of the event loop calls only one of the `then` functions that were passed to run(). If a `then` function throws an
// exception, the event loop still calls all other `then` functions.
void ThreadBackground::finishOne() {
    std::uint64_t one = 0;
    if (::read(shared_->event.get(), &one, sizeof one) != sizeof one)
        return;
    std::unique_lock lock(shared_->mutex);
    const auto id = shared_->done.front();
    shared_->done.pop_front();
    lock.unlock();
    if (const auto then = then_.extract(id))
        then.mapped()();
}

} // namespace pinfold
