// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/report/describer.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace pinfold {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<ProcessInfo> lookWhereTheyHang(const ProcessTable& table, std::vector<ProcessInfo> processes) {
    for (auto& process : processes)
        if (auto stuck = table.readStuck(process.pid); stuck && stuck->started == process.started)
            process = std::move(*stuck);
    return processes;
}

} // namespace

/// A thread that reads a process can hang. The class Reading lets only one thread at a time read a process. A process that hangs
/// blocks at most one thread.
struct Describer::Reading {
    explicit Reading(ProcessTable processTable) : table(std::move(processTable)) {}

    /// If another thread is reading the process already, enter() waits until the other thread has read the process for the time
    /// kPatience. After that, the other thread perhaps hangs, and enter() returns false.
    bool enter(pid_t pid) {
        std::unique_lock lock(mutex);
        const auto free = [&] { return !since.contains(pid); };
        if (!free() && !left.wait_until(lock, since[pid] + std::chrono::microseconds(kPatience), free))
            return false;
        since[pid] = Clock::now();
        return true;
    }
    void leave(pid_t pid) {
        const std::lock_guard lock(mutex);
        since.erase(pid);
        left.notify_all();
    }

    const ProcessTable table;
    std::mutex mutex;
    std::condition_variable left;
    std::map<pid_t, Clock::time_point> since;
};

/// Holds the processes of one request. The event loop's thread and the reading threads share a Batch.
struct Describer::Batch {
    Batch(std::shared_ptr<Reading> readingArg, std::vector<ProcessInfo> infos)
        : reading(std::move(readingArg)), processes(std::move(infos)) {}

    void work() {
        while (auto taken = take()) {
            auto& [at, info] = *taken;
            if (!reading->enter(info.pid))
                continue;
            auto command = reading->table.commandOf(info);
            reading->leave(info.pid);
            // If the listed process has ended, a new process can have the same process id.
            if (const auto again = reading->table.read(info.pid); again && again->started != info.started)
                continue;
            info.command = std::move(command);
            give(at, info);
        }
    }

    std::vector<ProcessInfo> end() {
        const std::lock_guard lock(mutex);
        over = true;
        return std::move(processes);
    }

private:
    struct Taken {
        std::size_t at;
        ProcessInfo info;
    };

    std::optional<Taken> take() {
        const std::lock_guard lock(mutex);
        if (over || next == processes.size())
            return std::nullopt;
        const auto at = next++;
        return Taken{at, processes[at]};
    }
    void give(std::size_t at, const ProcessInfo& info) {
        const std::lock_guard lock(mutex);
        if (!over)
            processes[at] = info;
    }

    const std::shared_ptr<Reading> reading;
    std::mutex mutex;
    std::vector<ProcessInfo> processes;
    std::size_t next = 0;
    bool over = false;
};

struct Describer::Request {
    std::shared_ptr<Batch> batch;
    Done done;
    std::size_t working = 0; ///< the number of threads that work on the request
    EventHandle timer;
};

Describer::Describer(CoreContext& context) : context_(context), reading_(std::make_shared<Reading>(context.processes)) {}

Describer::~Describer() {
    for (const auto& request : requests_)
        (void)request->batch->end();
}

void Describer::describe(uid_t owner, std::vector<ProcessInfo> processes, Done done) {
    const auto threads = std::min(kThreadsPerUser, processes.size());
    auto request = std::make_shared<Request>();
    request->batch = std::make_shared<Batch>(reading_, std::move(processes));
    request->done = std::move(done);
    requests_.insert(request);
    if (threads == 0)
        return finish(request);
    auto& share = shares_[context_.countsAs(owner)];
    share.waiting.insert(share.waiting.end(), threads, request);
    request->timer = context_.loop.after(kPatience, [this, weak = std::weak_ptr(request)] {
        if (const auto live = weak.lock())
            finish(live);
    });
    serve();
    // If serve() has found no thread for the Describer, too many of pinfoldd's threads hang. A hanging thread possibly never
    // becomes free, so describe() finishes the request at once.
    if (std::all_of(shares_.begin(), shares_.end(), [](const auto& entry) { return entry.second.threads == 0; }))
        finish(request);
}

bool Describer::describeStuck(uid_t owner, std::vector<ProcessInfo> processes, Done done) {
    return context_.background.ask(
        Lane::WaitPoints,
        [reading = reading_, processes = std::move(processes)]() mutable {
            return lookWhereTheyHang(reading->table, std::move(processes));
        },
        [this, alive = std::weak_ptr(alive_), owner, done = std::move(done)](std::vector<ProcessInfo> looked) mutable {
            if (!alive.expired())
                describe(owner, std::move(looked), std::move(done));
        });
}

void Describer::serve() {
    for (auto& [user, share] : shares_)
        while (!share.waiting.empty() && share.threads < kThreadsPerUser) {
            if (!begin(user, share.waiting.front()))
                break; // a thread that has finished its work calls serve() again
            share.waiting.pop_front();
        }
    std::erase_if(shares_, [](const auto& entry) { return entry.second.threads == 0 && entry.second.waiting.empty(); });
}

bool Describer::begin(uid_t user, const std::shared_ptr<Request>& request) {
    if (user != 0 && threadsOfUsers_ >= kThreadsOfUsers)
        return false;
    const bool taken = context_.background.run(
        Lane::Processes, [batch = request->batch] { batch->work(); },
        [this, alive = std::weak_ptr(alive_), user, weak = std::weak_ptr(request)] {
            if (alive.expired())
                return;
            --shares_[user].threads;
            threadsOfUsers_ -= user != 0 ? 1 : 0;
            if (const auto live = weak.lock(); live && --live->working == 0)
                finish(live);
            serve();
        });
    if (!taken)
        return false;
    ++shares_[user].threads;
    threadsOfUsers_ += user != 0 ? 1 : 0;
    ++request->working;
    return true;
}

void Describer::finish(const std::shared_ptr<Request>& request) {
    // finish() removes the request from `requests_` and from the queues. With a copy of the shared pointer, finish() makes the
    // request exist until the end of finish().
    const auto kept = request; // NOLINT(performance-unnecessary-copy-initialization)
    if (requests_.erase(kept) == 0)
        return;
    for (auto& [user, share] : shares_)
        std::erase(share.waiting, kept);
    kept->timer.reset();
    kept->done(kept->batch->end());
}

} // namespace pinfold
