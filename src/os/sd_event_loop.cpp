// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/sd_event_loop.hpp"

#include "base/clock.hpp"

#include <systemd/sd-event.h>

#include <cxxabi.h>
#include <sys/epoll.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <system_error>
#include <utility>

namespace pinfold {
namespace {

constexpr Microseconds kTimerAccuracy = 1ms;
// A handler of whenIdle() waits until the loop is idle, but at most kTurnsUntilIdle turns of the loop. Without kTurnsUntilIdle, a
// source could wait for ever, because the loop is never idle while somebody floods a socket. kTurnsUntilIdle is high, so that the
// loop calls a whenIdle() handler only once when many jobs end together.
constexpr int kTurnsUntilIdle = 256;
constexpr auto kLongestDelay = Microseconds::max() / 2; // sd-event refuses a time that does not fit into 64 bits

/// Returns the names of the class and function that contain a lambda.
std::string readable(const std::type_info& type) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
    return name ? name.get() : type.name();
}

void check(int result, const char* what) {
    if (result < 0)
        throw std::system_error(-result, std::generic_category(), what);
}

} // namespace

struct SdEventLoop::Source : EventSource {
    Source(Handler handlerArg, SdEventLoop& loopArg) : handler(std::make_shared<Handler>(std::move(handlerArg))), loop(loopArg) {}
    ~Source() override { sd_event_source_disable_unref(source); }

    /// call() catches all exceptions of handlers, because libsystemd's C frames cannot pass exceptions on.
    int call() const {
        const auto kept = handler; // the copy keeps the handler alive if the handler ends its own registration
        auto& owner = loop;
        owner.handler_ = &kept->target_type();
        try {
            (*kept)();
        } catch (const std::exception& error) {
            owner.unexpected(error.what());
        } catch (...) {
            owner.unexpected("an unknown exception");
        }
        return 0;
    }
    static int call(void* data) { return static_cast<Source*>(data)->call(); }
    /// sd-event calls hurry() before each wait. When sd-event has waited kTurnsUntilIdle times, sd-event calls the source's
    /// handler even if the loop is not idle.
    static int hurry(sd_event_source* self, void* data) {
        if (++static_cast<Source*>(data)->turns > kTurnsUntilIdle) {
            sd_event_source_set_priority(self, SD_EVENT_PRIORITY_NORMAL);
            sd_event_source_set_prepare(self, nullptr);
        }
        return 0;
    }

    std::shared_ptr<Handler> handler;
    SdEventLoop& loop; // the reference stays valid, because the loop outlives its sources
    int turns = 0;     ///< how often sd-event has called hurry() for this source
    sd_event_source* source = nullptr;
};

SdEventLoop::SdEventLoop(LogSink log, Meter meter) : log_(std::move(log)) {
    check(sd_event_default(&event_), "sd_event_default");
    if (meter == Meter::On)
        meter_.emplace();
}

SdEventLoop::~SdEventLoop() { sd_event_unref(event_); }

EventHandle SdEventLoop::onReadable(int fd, Handler handler) {
    auto source = std::make_unique<Source>(std::move(handler), *this);
    check(sd_event_add_io(
              event_, &source->source, fd, EPOLLIN,
              [](sd_event_source*, int, std::uint32_t, void* data) { return Source::call(data); }, source.get()),
          "sd_event_add_io");
    return source;
}

EventHandle SdEventLoop::after(Microseconds delay, Handler handler) {
    auto source = std::make_unique<Source>(std::move(handler), *this);
    // after() counts the delay from the time of the call. The loop's own "now" is the time at which the loop began to handle the
    // current events. If after() added the delay to the loop's own "now", the loop could call the handler too early.
    check(sd_event_add_time(
              event_, &source->source, CLOCK_BOOTTIME, toUsec(bootTime() + std::min(delay, kLongestDelay)),
              toUsec(kTimerAccuracy), [](sd_event_source*, std::uint64_t, void* data) { return Source::call(data); },
              source.get()),
          "sd_event_add_time");
    return source;
}

EventHandle SdEventLoop::whenIdle(Handler handler) {
    auto source = std::make_unique<Source>(std::move(handler), *this);
    check(sd_event_add_defer(
              event_, &source->source, [](sd_event_source*, void* data) { return Source::call(data); }, source.get()),
          "sd_event_add_defer");
    check(sd_event_source_set_priority(source->source, SD_EVENT_PRIORITY_IDLE), "sd_event_source_set_priority");
    check(sd_event_source_set_prepare(source->source, &Source::hurry), "sd_event_source_set_prepare");
    return source;
}

EventHandle SdEventLoop::onSignal(int signal, Handler handler) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    check(-pthread_sigmask(SIG_BLOCK, &set, nullptr), "pthread_sigmask");
    auto source = std::make_unique<Source>(std::move(handler), *this);
    check(sd_event_add_signal(
              event_, &source->source, signal,
              [](sd_event_source*, const signalfd_siginfo*, void* data) { return Source::call(data); }, source.get()),
          "sd_event_add_signal");
    return source;
}

BootTime SdEventLoop::bootTime() const { return BootClock::now(); }

RealTime SdEventLoop::realTime() const { return RealClock::now(); }

Microseconds SdEventLoop::cpuTime() const { return ThreadCpuClock::now().time_since_epoch(); }

int SdEventLoop::run() {
    // Like sd_event_loop() of libsystemd, run() ends in the state SD_EVENT_FINISHED.
    while (sd_event_get_state(event_) != SD_EVENT_FINISHED)
        if (meter_)
            meteredTurn();
        else
            check(sd_event_run(event_, UINT64_MAX), "sd_event_run");
    int status = 0;
    check(sd_event_get_exit_code(event_, &status), "sd_event_get_exit_code");
    return status;
}

void SdEventLoop::meteredTurn() {
    int ready = sd_event_prepare(event_);
    if (ready == 0)
        ready = sd_event_wait(event_, UINT64_MAX);
    check(ready, "sd_event_wait");
    if (ready == 0)
        return;
    handler_ = nullptr;
    meter_->begin();
    check(sd_event_dispatch(event_), "sd_event_dispatch");
    if (const auto slept = meter_->slept(); slept > LoopMeter::kTooLong)
        log_("the loop waited " + std::to_string(slept / 1ms) + " ms in a system call, in " +
             (handler_ ? readable(*handler_) : "a call from the bus"));
}

void SdEventLoop::unexpected(const std::string& what) {
    log_("unexpected error: " + what);
    if (statusOfException_)
        quit(*statusOfException_);
}

bool SdEventLoop::turn(Microseconds patience) {
    const int handled = sd_event_run(event_, toUsec(patience));
    check(handled, "sd_event_run");
    return handled > 0;
}

int SdEventLoop::descriptor() const { return sd_event_get_fd(event_); }

void SdEventLoop::quit(int status) { sd_event_exit(event_, status); }

} // namespace pinfold
