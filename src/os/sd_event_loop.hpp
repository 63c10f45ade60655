// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "os/event_loop.hpp"
#include "os/loop_meter.hpp"

#include <functional>
#include <optional>
#include <string>
#include <typeinfo>

struct sd_event;

namespace pinfold {

/// EventLoop on sd-event(3). It catches exceptions of handlers and logs them. Then the loop goes on, unless an exception is to
/// end it (quitAtException()).
class SdEventLoop : public EventLoop {
public:
    using LogSink = std::function<void(const std::string&)>;

    /// On: logs each turn that sleeps in a system call for more than LoopMeter::kTooLong, with its handler. This is for tests,
    /// since no turn may do that (os/background.hpp).
    enum class Meter { Off, On };

    /// Throws std::system_error when the kernel has no descriptors left.
    explicit SdEventLoop(LogSink log, Meter meter = Meter::Off);
    ~SdEventLoop() override;
    SdEventLoop(const SdEventLoop&) = delete;
    SdEventLoop& operator=(const SdEventLoop&) = delete;

    EventHandle onReadable(int fd, Handler handler) override;
    EventHandle after(std::uint64_t delayUsec, Handler handler) override;
    EventHandle whenIdle(Handler handler) override;
    std::uint64_t bootTime() const override;
    std::uint64_t realTime() const override;
    std::uint64_t cpuTime() const override;

    /// Blocks the signal for the process, and calls `handler` each time it comes.
    EventHandle onSignal(int signal, Handler handler);
    /// Tells systemd's watchdog regularly that we live, if WatchdogSec= is set.
    void enableWatchdog();
    /// After an exception the loop quits with this status. Unset: it goes on. This is for the start, which an exception cuts off.
    void quitAtException(std::optional<int> status) { statusOfException_ = status; }
    /// Runs until quit(), and returns the status given there.
    int run();
    void quit(int status);

    sd_event* get() const { return event_; }

private:
    struct Source;

    void meteredTurn();
    void unexpected(const std::string& what);

    sd_event* event_ = nullptr;
    LogSink log_;
    std::optional<LoopMeter> meter_;
    std::optional<int> statusOfException_;
    const std::type_info* handler_ = nullptr; ///< the handler called last in this turn; null: one that is not ours but the bus's
};

} // namespace pinfold
