// SPDX-License-Identifier: LGPL-2.1-or-later
// The clock of this event loop moves only when the test moves it. The descriptors of the event loop are real.
#pragma once

#include "os/event_loop.hpp"

#include <poll.h>

#include <list>
#include <memory>
#include <vector>

namespace pinfold::test {

class ManualEventLoop : public EventLoop {
public:
    EventHandle onReadable(int fd, Handler handler) override { return add({Kind::Fd, fd, {}, std::move(handler)}); }
    EventHandle after(Microseconds delay, Handler handler) override {
        return add({Kind::Timer, -1, pinfold::after(now_, delay), std::move(handler)});
    }
    EventHandle whenIdle(Handler handler) override { return add({Kind::Idle, -1, {}, std::move(handler)}); }
    BootTime bootTime() const override { return BootTime(now_ - booted_); }
    Microseconds cpuTime() const override { return now_.time_since_epoch(); }
    RealTime realTime() const override { return RealTime(1'700'000'000s) + now_.time_since_epoch() + clockAhead_; }

    /// Sets the real-time clock to its original time plus `time`.
    void setClockAhead(Microseconds time) { clockAhead_ = time; }

    /// Handles pending events until no event is left. settle() handles the events of descriptors before it does idle work.
    void settle() {
        while (stepDescriptors(0) || stepIdle()) {
        }
    }
    /// Waits until a descriptor is ready, or until the deadline. Returns false if no descriptor became ready.
    bool waitForEvent(int deadlineMs) {
        const bool any = stepDescriptors(deadlineMs);
        settle();
        return any;
    }
    /// Moves the clock, and calls the handlers of the timers that are due. The earliest timer comes first.
    void advance(Microseconds time) {
        const auto target = now_ + time;
        settle();
        while (auto next = earliest(target)) {
            now_ = next->due;
            fireOnce(next);
            settle();
        }
        now_ = target;
    }
    /// Moves the clock, as if the program had been stopped for a while. When the program continues, pause() calls the handlers of
    /// all due timers before the handlers of ready descriptors. sd-event can call the handlers in the same order.
    void pause(Microseconds time) {
        now_ += time;
        while (auto next = earliest(now_))
            fireOnce(next);
        settle();
    }
    /// Sets the time of the boot to one second ago, as if the node had rebooted.
    void reboot() { booted_ = now_ - 1s; }
    std::size_t timers() const {
        std::size_t count = 0;
        for (const auto& source : sources_)
            count += source->kind == Kind::Timer && source->live;
        return count;
    }

private:
    enum class Kind { Fd, Timer, Idle };
    struct Source {
        Kind kind;
        int fd;
        MonotonicTime due;
        Handler handler;
        bool live = true;
    };
    using SourcePtr = std::shared_ptr<Source>;
    struct Handle : EventSource {
        explicit Handle(SourcePtr s) : source(std::move(s)) {}
        ~Handle() override { source->live = false; }
        SourcePtr source;
    };

    EventHandle add(Source source) {
        sources_.push_back(std::make_shared<Source>(std::move(source)));
        return std::make_unique<Handle>(sources_.back());
    }
    void fireOnce(const SourcePtr& source) {
        source->live = false;
        source->handler();
        sweep();
    }
    bool stepDescriptors(int timeoutMs) {
        sweep();
        std::vector<SourcePtr> watched;
        std::vector<pollfd> fds;
        for (const auto& source : sources_)
            if (source->kind == Kind::Fd) {
                watched.push_back(source);
                fds.push_back({source->fd, POLLIN, 0});
            }
        if (::poll(fds.data(), fds.size(), timeoutMs) <= 0)
            return false;
        for (std::size_t i = 0; i < fds.size(); ++i)
            if (fds[i].revents != 0 && watched[i]->live)
                watched[i]->handler();
        sweep();
        return true;
    }
    bool stepIdle() {
        for (const auto& source : sources_)
            if (source->kind == Kind::Idle && source->live) {
                fireOnce(SourcePtr(source));
                return true;
            }
        return false;
    }
    SourcePtr earliest(MonotonicTime until) const {
        SourcePtr found;
        for (const auto& source : sources_)
            if (source->kind == Kind::Timer && source->live && source->due <= until && (!found || source->due < found->due))
                found = source;
        return found;
    }
    void sweep() {
        sources_.remove_if([](const SourcePtr& source) { return !source->live; });
    }

    MonotonicTime now_{1'000s};
    Microseconds clockAhead_{};
    MonotonicTime booted_{};
    std::list<SourcePtr> sources_;
};

} // namespace pinfold::test
