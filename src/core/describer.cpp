// SPDX-License-Identifier: LGPL-2.1-or-later
#include "core/describer.hpp"

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

// While one of them hangs in a process, the other goes on with the rest.
constexpr std::size_t kThreads = 2;

} // namespace

/// At most one thread hangs in one process, however often somebody asks for it.
struct Describer::Reading {
    explicit Reading(ProcessTable processTable) : table(std::move(processTable)) {}

    /// False: another thread hangs there.
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

/// Shared by the loop and the threads that work on it.
struct Describer::Batch {
    Batch(std::shared_ptr<Reading> readingArg, std::vector<ProcessInfo> infos, Depth howDeep)
        : reading(std::move(readingArg)), depth(howDeep), processes(std::move(infos)) {}

    void work() {
        while (auto taken = take()) {
            auto& [at, info, step] = *taken;
            if (step == Step::Stuck) {
                if (auto stuck = reading->table.readStuck(info.pid); stuck && stuck->started == info.started)
                    give(at, *stuck);
                continue;
            }
            if (!reading->enter(info.pid))
                continue;
            auto command = reading->table.commandOf(info);
            reading->leave(info.pid);
            // It may have ended, and its number may be another's by now.
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
    // Of all of them first what never hangs: it is known even of those whose command lines nobody gets to.
    enum class Step { Stuck, Command };
    struct Taken {
        std::size_t at;
        ProcessInfo info;
        Step step;
    };

    std::optional<Taken> take() {
        const std::lock_guard lock(mutex);
        const auto steps = depth == Depth::Stuck ? 2 : 1;
        if (over || next == steps * processes.size())
            return std::nullopt;
        const auto at = next % processes.size();
        const auto step = steps == 2 && next < processes.size() ? Step::Stuck : Step::Command;
        ++next;
        return Taken{at, processes[at], step};
    }
    void give(std::size_t at, const ProcessInfo& info) {
        const std::lock_guard lock(mutex);
        if (!over)
            processes[at] = info;
    }

    const std::shared_ptr<Reading> reading;
    const Depth depth;
    std::mutex mutex;
    std::vector<ProcessInfo> processes;
    std::size_t next = 0;
    bool over = false;
};

struct Describer::Request {
    std::shared_ptr<Batch> batch;
    Done done;
    std::size_t working = 0; ///< threads
    EventHandle timer;
};

Describer::Describer(CoreContext& context) : context_(context), reading_(std::make_shared<Reading>(context.processes)) {}

Describer::~Describer() {
    for (const auto& request : requests_)
        (void)request->batch->end();
}

void Describer::describe(std::vector<ProcessInfo> processes, Depth depth, Done done) {
    const auto threads = std::min(kThreads, processes.size());
    auto request = std::make_shared<Request>();
    request->batch = std::make_shared<Batch>(reading_, std::move(processes), depth);
    request->done = std::move(done);
    requests_.insert(request);
    const std::weak_ptr weak = request;
    for (std::size_t i = 0; i < threads; ++i) {
        const bool taken = context_.background.run(
            Lane::Processes, [batch = request->batch] { batch->work(); },
            [this, weak] {
                if (const auto live = weak.lock(); live && --live->working == 0)
                    finish(live);
            });
        request->working += taken ? 1 : 0;
    }
    if (request->working == 0) // there are none, or too much hangs already
        return finish(request);
    request->timer = context_.loop.after(kPatience, [this, weak] {
        if (const auto live = weak.lock())
            finish(live);
    });
}

void Describer::finish(const std::shared_ptr<Request>& request) {
    const auto kept = request; // `request` may be the very one that is removed
    if (requests_.erase(kept) == 0)
        return;
    kept->timer.reset();
    kept->done(kept->batch->end());
}

} // namespace pinfold
