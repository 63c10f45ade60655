// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/sd_event_loop.hpp"

#include <systemd/sd-event.h>

#include <sys/epoll.h>

#include <algorithm>
#include <csignal>
#include <ctime>
#include <exception>
#include <system_error>
#include <utility>

namespace pinfold {
namespace {

constexpr std::uint64_t kTimerAccuracy = 1000;
constexpr std::uint64_t kLongestDelay = UINT64_MAX / 2; // sd-event refuses a sum beyond 64 bits

std::uint64_t clockUsec(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000 + static_cast<std::uint64_t>(now.tv_nsec) / 1000;
}

void check(int result, const char* what) {
    if (result < 0)
        throw std::system_error(-result, std::generic_category(), what);
}

} // namespace

struct SdEventLoop::Source : EventSource {
    Source(Handler handlerArg, const LogSink& logArg) : handler(std::make_shared<Handler>(std::move(handlerArg))), log(logArg) {}
    ~Source() override { sd_event_source_disable_unref(source); }

    /// The one guard: libsystemd's C frames are not made for exceptions.
    int call() const {
        const auto kept = handler; // the handler may end this very registration
        const auto& sink = log;
        try {
            (*kept)();
        } catch (const std::exception& error) {
            sink(std::string("unexpected: ") + error.what());
        } catch (...) {
            sink("unexpected: an unknown exception");
        }
        return 0;
    }
    static int call(void* data) { return static_cast<Source*>(data)->call(); }

    std::shared_ptr<Handler> handler;
    const LogSink& log; // the loop's: it outlives its sources
    sd_event_source* source = nullptr;
};

SdEventLoop::SdEventLoop(LogSink log) : log_(std::move(log)) { check(sd_event_default(&event_), "sd_event_default"); }

SdEventLoop::~SdEventLoop() { sd_event_unref(event_); }

EventHandle SdEventLoop::onReadable(int fd, Handler handler) {
    auto source = std::make_unique<Source>(std::move(handler), log_);
    check(sd_event_add_io(
              event_, &source->source, fd, EPOLLIN,
              [](sd_event_source*, int, std::uint32_t, void* data) { return Source::call(data); }, source.get()),
          "sd_event_add_io");
    return source;
}

EventHandle SdEventLoop::after(std::uint64_t delayUsec, Handler handler) {
    auto source = std::make_unique<Source>(std::move(handler), log_);
    // From now, not from the loop's "now", which is when this round of events began: a time limit must not come early.
    check(sd_event_add_time(
              event_, &source->source, CLOCK_BOOTTIME, bootTime() + std::min(delayUsec, kLongestDelay), kTimerAccuracy,
              [](sd_event_source*, std::uint64_t, void* data) { return Source::call(data); }, source.get()),
          "sd_event_add_time");
    return source;
}

EventHandle SdEventLoop::whenIdle(Handler handler) {
    auto source = std::make_unique<Source>(std::move(handler), log_);
    check(sd_event_add_defer(
              event_, &source->source, [](sd_event_source*, void* data) { return Source::call(data); }, source.get()),
          "sd_event_add_defer");
    check(sd_event_source_set_priority(source->source, SD_EVENT_PRIORITY_IDLE), "sd_event_source_set_priority");
    return source;
}

EventHandle SdEventLoop::onSignal(int signal, Handler handler) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    check(-pthread_sigmask(SIG_BLOCK, &set, nullptr), "pthread_sigmask");
    auto source = std::make_unique<Source>(std::move(handler), log_);
    check(sd_event_add_signal(
              event_, &source->source, signal,
              [](sd_event_source*, const signalfd_siginfo*, void* data) { return Source::call(data); }, source.get()),
          "sd_event_add_signal");
    return source;
}

std::uint64_t SdEventLoop::bootTime() const { return clockUsec(CLOCK_BOOTTIME); }

std::uint64_t SdEventLoop::realTime() const { return clockUsec(CLOCK_REALTIME); }

void SdEventLoop::enableWatchdog() { check(sd_event_set_watchdog(event_, 1), "sd_event_set_watchdog"); }

int SdEventLoop::run() {
    const int status = sd_event_loop(event_);
    check(status, "sd_event_loop");
    return status;
}

void SdEventLoop::quit(int status) { sd_event_exit(event_, status); }

} // namespace pinfold
