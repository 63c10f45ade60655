// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/sdbus_event_source.hpp"

#include "systemd/sdbus_compat.hpp"

#include <systemd/sd-event.h>

#include <ctime>
#include <system_error>

namespace pinfold {
namespace {

// After kMessagesPerTurn messages from the bus, the loop handles other events. Even during a flood of messages, the loop must
// handle timers and ended processes in time.
constexpr int kMessagesPerTurn = 64;

void check(int result, const char* what) {
    if (result < 0)
        throw std::system_error(-result, std::generic_category(), what);
}

} // namespace

struct SdbusEventSource::Impl {
    Impl(sdbus::IConnection& connectionArg, std::function<void(const std::string&)> onLostArg)
        : connection(connectionArg), onLost(std::move(onLostArg)) {}
    ~Impl() {
        sd_event_source_disable_unref(io);
        sd_event_source_disable_unref(timer);
    }

    void drain() {
        try {
            for (int messages = 0; messages < kMessagesPerTurn && dbus::pump(connection); ++messages) {
            }
        } catch (const std::exception& error) {
            sd_event_source_set_enabled(io, SD_EVENT_OFF);
            sd_event_source_set_enabled(timer, SD_EVENT_OFF);
            if (auto lost = std::exchange(onLost, nullptr))
                lost(error.what());
        }
    }

    /// sd-event calls refresh() before each wait, because the connection's events and time-out change. If the connection's
    /// queue already contains messages, the time-out is 0.
    void refresh() {
        if (!onLost)
            return;
        const auto data = connection.getEventLoopPollData();
        sd_event_source_set_io_events(io, static_cast<std::uint32_t>(data.events));
        const auto until = dbus::pollUntil(data);
        if (until == MonotonicTime::max()) {
            sd_event_source_set_enabled(timer, SD_EVENT_OFF);
        } else {
            sd_event_source_set_time(timer, toUsec(until));
            sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
        }
    }

    sdbus::IConnection& connection;
    std::function<void(const std::string&)> onLost;
    sd_event_source* io = nullptr;
    sd_event_source* timer = nullptr;
};

SdbusEventSource::SdbusEventSource(sd_event* event, sdbus::IConnection& connection,
                                   std::function<void(const std::string&)> onLost)
    : impl_(std::make_unique<Impl>(connection, std::move(onLost))) {
    const auto data = connection.getEventLoopPollData();
    auto* impl = impl_.get();
    check(sd_event_add_io(
              event, &impl->io, data.fd, static_cast<std::uint32_t>(data.events),
              [](sd_event_source*, int, std::uint32_t, void* self) { return static_cast<Impl*>(self)->drain(), 0; }, impl),
          "sd_event_add_io");
    check(sd_event_add_time(
              event, &impl->timer, CLOCK_MONOTONIC, 0, 0,
              [](sd_event_source*, std::uint64_t, void* self) { return static_cast<Impl*>(self)->drain(), 0; }, impl),
          "sd_event_add_time");
    check(sd_event_source_set_prepare(impl->io,
                                      [](sd_event_source*, void* self) { return static_cast<Impl*>(self)->refresh(), 0; }),
          "sd_event_source_set_prepare");
}

SdbusEventSource::~SdbusEventSource() = default;

} // namespace pinfold
