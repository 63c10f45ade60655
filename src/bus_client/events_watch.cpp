// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_client/events_watch.hpp"

#include "base/bus_names.hpp"
#include "bus_client/converted.hpp"

#include <poll.h>

#include <exception>
#include <string_view>
#include <utility>
#include <vector>

namespace pinfold {
namespace {

std::optional<std::string> textOf(const dbus::Dict& dict, const char* name) {
    const auto entry = dict.find(name);
    return entry == dict.end() ? std::nullopt : std::optional(entry->second.get<std::string>());
}

Event jobAdded(sdbus::Message& signal) {
    Event event{.name = "job-added"};
    signal >> event.job.emplace();
    return event;
}

template <bool added> Event task(sdbus::Message& signal) {
    Event event{.name = added ? "task-added" : "task-removed"};
    signal >> event.job.emplace() >> event.task.emplace();
    return event;
}

Event leftoversFound(sdbus::Message& signal) {
    Event event{.name = "leftovers-found"};
    signal >> event.job.emplace() >> event.task.emplace() >> event.count.emplace();
    return event;
}

Event outOfMemory(sdbus::Message& signal) {
    Event event{.name = "out-of-memory"};
    dbus::Dict verdict;
    signal >> event.job.emplace() >> verdict;
    event.oomCause = textOf(verdict, "oom_cause");
    return event;
}

Event limitNear(sdbus::Message& signal) {
    Event event{.name = "limit-near"};
    signal >> event.job.emplace() >> event.limit.emplace();
    return event;
}

Event unkillable(sdbus::Message& signal) {
    Event event{.name = "unkillable"};
    signal >> event.job.emplace() >> event.count.emplace();
    return event;
}

Event jobRemoved(sdbus::Message& signal) {
    Event event{.name = "job-removed"};
    sdbus::ObjectPath path;
    dbus::Dict receipt;
    signal >> event.job.emplace() >> path >> receipt;
    event.result = textOf(receipt, "result");
    return event;
}

Event receiptAmended(sdbus::Message& signal) {
    Event event{.name = "receipt-amended"};
    dbus::Dict receipt;
    signal >> event.job.emplace() >> receipt;
    event.result = textOf(receipt, "result");
    return event;
}

Event receiptsStored(sdbus::Message& signal) {
    Event event{.name = kReceiptsStored};
    auto& stored = event.stored.emplace();
    signal >> stored.epoch >> stored.first >> stored.last;
    return event;
}

Event drainChanged(sdbus::Message& signal) {
    std::string interface;
    dbus::Dict changed;
    signal >> interface >> changed;
    const auto draining = changed.find("Draining");
    const bool drained = draining != changed.end() && draining->second.get<bool>();
    Event event{.name = drained ? "drained" : "undrained"};
    if (drained)
        event.reason = textOf(changed, "DrainReason");
    return event;
}

Event ownerChanged(sdbus::Message& signal) {
    std::string name;
    std::string before;
    std::string now;
    signal >> name >> before >> now;
    return {.name = now.empty() ? "daemon-stopped" : "daemon-started"};
}

std::string quoted(const char* key, const char* value) { return std::string(",") + key + "='" + value + "'"; }

std::string signalOf(const char* sender, const char* interface) {
    return "type='signal'" + quoted("sender", sender) + quoted("interface", interface);
}

std::string ofManager() { return signalOf(kBusName, kManagerInterface) + quoted("path", kManagerPath); }
std::string ofProperties() {
    return signalOf(kBusName, "org.freedesktop.DBus.Properties") + quoted("path", kManagerPath) +
           quoted("member", "PropertiesChanged") + quoted("arg0", kManagerInterface);
}
std::string ofBus() {
    return signalOf("org.freedesktop.DBus", "org.freedesktop.DBus") + quoted("member", "NameOwnerChanged") +
           quoted("arg0", kBusName);
}

using Reader = Event (*)(sdbus::Message&);

/// Returns the function that reads signals with the name `member`. If readerOf() does not know the name, the result is nullptr. A
/// pinfoldd that is newer than the client can send signals that readerOf() does not know.
Reader readerOf(std::string_view member) {
    static constexpr std::pair<std::string_view, Reader> readers[] = {
        {"JobAdded", jobAdded},
        {"TaskAdded", task<true>},
        {"TaskRemoved", task<false>},
        {"LeftoversFound", leftoversFound},
        {"OutOfMemory", outOfMemory},
        {"LimitNear", limitNear},
        {"Unkillable", unkillable},
        {"JobRemoved", jobRemoved},
        {"ReceiptAmended", receiptAmended},
        {"ReceiptsStored", receiptsStored},
    };
    for (const auto& [name, reader] : readers)
        if (name == member)
            return reader;
    return nullptr;
}

} // namespace

struct EventsWatch::Impl {
    void hear(sdbus::Message& signal, Reader reader) {
        if (!reader || !dbus::isBroadcast(dbus::rawMessage(signal)))
            return;
        try {
            heard.push_back(reader(signal));
            // An exception must not pass through the C code of libsystemd.
        } catch (const std::exception&) { // NOLINT(bugprone-empty-catch): pinfoldd did not send the signal
        }
    }

    std::unique_ptr<sdbus::IConnection> connection;
    std::unique_ptr<sdbus::IProxy> manager;
    std::vector<dbus::Match> matches;
    std::vector<Event> heard;
};

EventsWatch::EventsWatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
EventsWatch::EventsWatch(EventsWatch&&) noexcept = default;
EventsWatch& EventsWatch::operator=(EventsWatch&&) noexcept = default;
EventsWatch::~EventsWatch() = default;

Result<EventsWatch> EventsWatch::connect() {
    auto made = connected<Impl>();
    if (!made)
        return made.error();
    auto& impl = **made;
    const auto matched = converted([&impl] {
        auto& connection = *impl.connection;
        impl.matches.push_back(dbus::addMatch(connection, ofManager(), [&impl](sdbus::Message& signal) {
            const char* member = sd_bus_message_get_member(dbus::rawMessage(signal));
            impl.hear(signal, readerOf(member ? member : ""));
        }));
        impl.matches.push_back(
            dbus::addMatch(connection, ofProperties(), [&impl](sdbus::Message& signal) { impl.hear(signal, drainChanged); }));
        impl.matches.push_back(
            dbus::addMatch(connection, ofBus(), [&impl](sdbus::Message& signal) { impl.hear(signal, ownerChanged); }));
    });
    if (!matched)
        return Error{ErrorCode::Unreachable, matched.error().message};
    return EventsWatch(std::move(*made));
}

Result<std::vector<Event>> EventsWatch::wait(Microseconds atMost) {
    const auto pumped = [this] {
        while (dbus::pump(*impl_->connection)) {
        }
        return !impl_->heard.empty();
    };
    auto heard = converted([&] {
        if (!pumped()) {
            const auto data = impl_->connection->getEventLoopPollData();
            pollfd wait{data.fd, static_cast<short>(data.events), 0};
            const auto time = toTimespec(atMost);
            ::ppoll(&wait, 1, atMost == kForever ? nullptr : &time, nullptr);
            pumped();
        }
        return std::exchange(impl_->heard, {});
    });
    return heard ? std::move(heard) : Error{ErrorCode::Unreachable, heard.error().message};
}

Result<void> EventsWatch::listen(std::function<bool(const Event&)> heard) {
    while (true) {
        const auto events = wait(kForever);
        if (!events)
            return events.error();
        for (const auto& event : *events)
            if (!heard(event))
                return {};
    }
}

} // namespace pinfold
