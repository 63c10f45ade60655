// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs background work at once, unless the test has called hold() for the lane. ManualBackground calls the completions when the
// test calls settle() of the loop.
#pragma once

#include "os/background.hpp"
#include "tests/support/cpp/manual_event_loop.hpp"

#include <deque>
#include <list>
#include <map>
#include <set>

namespace pinfold::test {

class ManualBackground : public Background {
public:
    explicit ManualBackground(ManualEventLoop& loop) : loop_(loop) {}

    bool run(Lane lane, std::function<void()> work, std::function<void()> then) override {
        const auto bound = boundOf(lane);
        if (held_.contains(lane) && waiting_[lane].size() >= bound.threads + bound.queued) {
            refuse(lane);
            return false;
        }
        waiting_[lane].push_back({std::move(work), std::move(then)});
        if (!held_.contains(lane))
            serve(lane);
        return true;
    }

    /// After hold(), all new work of the lane waits until release().
    void hold(Lane lane) { held_.insert(lane); }
    /// Runs the work that has waited since hold().
    void release(Lane lane) {
        held_.erase(lane);
        serve(lane);
    }
    std::size_t hanging(Lane lane) const {
        const auto it = waiting_.find(lane);
        return it == waiting_.end() ? 0 : it->second.size();
    }

private:
    struct Item {
        std::function<void()> work;
        std::function<void()> then;
    };

    void serve(Lane lane) {
        while (!waiting_[lane].empty()) {
            auto item = std::move(waiting_[lane].front());
            waiting_[lane].pop_front();
            item.work();
            item.work = nullptr;
            completions_.push_back(std::move(item.then));
        }
        if (!completions_.empty() && !idle_)
            idle_ = loop_.whenIdle([this] { complete(); });
    }
    void complete() {
        idle_.reset();
        const auto done = std::exchange(completions_, {});
        for (const auto& then : done)
            if (then)
                then();
    }

    ManualEventLoop& loop_;
    std::set<Lane> held_;
    std::map<Lane, std::deque<Item>> waiting_;
    std::list<std::function<void()>> completions_;
    EventHandle idle_;
};

} // namespace pinfold::test
