// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "os/event_loop.hpp"
#include "os/loop_meter.hpp"

#include <functional>
#include <optional>
#include <string>
#include <typeinfo>

struct sd_event;

namespace pinfold {

/// Implements EventLoop with sd-event(3). SdEventLoop catches and logs the exceptions of handlers. After an exception the loop
/// continues, or quits if quitAtException() has set a status.
class SdEventLoop : public EventLoop {
public:
    using LogSink = std::function<void(const std::string&)>;

    /// With Meter::On, the loop logs each turn in which the loop's thread sleeps in system calls for longer than
    /// LoopMeter::kTooLong. The log entry names the handler that the loop called in the slow turn. Tests use Meter::On to check
    /// that the thread never sleeps longer than LoopMeter::kTooLong in one turn (os/background.hpp).
    enum class Meter { Off, On };

    /// Throws std::system_error if the process has no free descriptor.
    explicit SdEventLoop(LogSink log, Meter meter = Meter::Off);
    ~SdEventLoop() override;
    SdEventLoop(const SdEventLoop&) = delete;
    SdEventLoop& operator=(const SdEventLoop&) = delete;

    EventHandle onReadable(int fd, Handler handler) override;
    EventHandle after(Microseconds delay, Handler handler) override;
    EventHandle whenIdle(Handler handler) override;
    BootTime bootTime() const override;
    RealTime realTime() const override;
    Microseconds cpuTime() const override;

    /// Blocks the signal in this process, and calls `handler` each time the process receives the signal.
    EventHandle onSignal(int signal, Handler handler);
    /// Sets the status with which the loop quits after an exception. If quitAtException() has set no status, the loop continues
    /// after an exception. pinfoldd sets a status only during its start, so that an exception during the start ends pinfoldd.
    void quitAtException(std::optional<int> status) { statusOfException_ = status; }
    /// Runs until quit() is called, and returns the status that was passed to quit().
    int run();
    void quit(int status);
    /// Handles the pending events. If no event is pending, turn() waits for an event, but no longer than the time `patience`.
    /// Returns false if turn() handled no event. If a program has its own loop, the program calls turn() when descriptor() is
    /// readable.
    bool turn(Microseconds patience);
    int descriptor() const;

    sd_event* get() const { return event_; }

private:
    struct Source;

    void meteredTurn();
    void unexpected(const std::string& what);

    sd_event* event_ = nullptr;
    LogSink log_;
    std::optional<LoopMeter> meter_;
    std::optional<int> statusOfException_;
    /// Contains the type of the handler that the loop has called in the current turn. If the turn handled a call from the bus,
    /// `handler_` is null.
    const std::type_info* handler_ = nullptr;
};

} // namespace pinfold
