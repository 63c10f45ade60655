// SPDX-License-Identifier: LGPL-2.1-or-later
// Hides all differences between sdbus-c++ 1.2 (Debian 12) and 2.x (Debian 13).
#pragma once

#include "base/clock.hpp"
#include "build_config.hpp"

#include <sdbus-c++/sdbus-c++.h>
#include <systemd/sd-bus.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace pinfold::dbus {

using Dict = std::map<std::string, sdbus::Variant>;

#if PINFOLD_SDBUS_2

using ServiceName = sdbus::ServiceName;
using InterfaceName = sdbus::InterfaceName;
using PropertyName = sdbus::PropertyName;
using ReplyError = std::optional<sdbus::Error>;

inline sdbus::Error makeError(const std::string& name, const std::string& message) { return {sdbus::Error::Name{name}, message}; }
inline std::string errorName(const sdbus::Error& error) { return error.getName(); }
inline bool pump(sdbus::IConnection& connection) { return connection.processPendingEvent(); }
/// Returns the time at which poll(2) must return even if no event has come. MonotonicTime::max() means that poll(2) should wait
/// without a limit.
inline MonotonicTime pollUntil(const sdbus::IConnection::PollData& data) {
    return data.timeout == std::chrono::microseconds::max() ? MonotonicTime::max() : MonotonicTime(data.timeout);
}
inline std::unique_ptr<sdbus::IConnection> systemBus() { return sdbus::createSystemBusConnection(); }
inline std::unique_ptr<sdbus::IProxy> makeProxy(sdbus::IConnection& connection, const std::string& service,
                                                const std::string& path) {
    return sdbus::createProxy(connection, ServiceName{service}, sdbus::ObjectPath{path});
}
inline void requestName(sdbus::IConnection& connection, const std::string& name) { connection.requestName(ServiceName{name}); }
/// Calls handler(sdbus::Message&) for each message that matches the rule.
template <class F> auto addMatch(sdbus::IConnection& connection, const std::string& rule, F handler) {
    return connection.addMatch(
        rule, [handler = std::move(handler)](sdbus::Message message) { handler(message); }, sdbus::return_slot);
}
inline sdbus::MethodCall makeCall(sdbus::IProxy& proxy, const std::string& interface, const std::string& method) {
    return proxy.createMethodCall(sdbus::InterfaceName{interface}, sdbus::MethodName{method});
}
/// Makes the call, and calls handler(sdbus::MethodReply&, const sdbus::Error* or null) when the reply has come.
template <class F> void callAsync(sdbus::IProxy& proxy, const sdbus::MethodCall& call, F handler, Microseconds timeout) {
    proxy.callMethodAsync(
        call,
        [handler = std::move(handler)](sdbus::MethodReply reply, ReplyError error) { handler(reply, error ? &*error : nullptr); },
        toUsec(timeout));
}

#else

using ServiceName = std::string;
using InterfaceName = std::string;
using PropertyName = std::string;
using ReplyError = const sdbus::Error*;

inline sdbus::Error makeError(const std::string& name, const std::string& message) { return {name, message}; }
inline std::string errorName(const sdbus::Error& error) { return error.getName(); }
inline bool pump(sdbus::IConnection& connection) { return connection.processPendingRequest(); }
inline MonotonicTime pollUntil(const sdbus::IConnection::PollData& data) { return fromUsec<MonotonicTime>(data.timeout_usec); }
inline std::unique_ptr<sdbus::IConnection> systemBus() { return sdbus::createSystemBusConnection(); }
inline std::unique_ptr<sdbus::IProxy> makeProxy(sdbus::IConnection& connection, const std::string& service,
                                                const std::string& path) {
    return sdbus::createProxy(connection, service, path);
}
inline void requestName(sdbus::IConnection& connection, const std::string& name) { connection.requestName(name); }
template <class F> auto addMatch(sdbus::IConnection& connection, const std::string& rule, F handler) {
    return connection.addMatch(rule, [handler = std::move(handler)](sdbus::Message& message) { handler(message); });
}
inline sdbus::MethodCall makeCall(sdbus::IProxy& proxy, const std::string& interface, const std::string& method) {
    return proxy.createMethodCall(interface, method);
}
template <class F> void callAsync(sdbus::IProxy& proxy, const sdbus::MethodCall& call, F handler, Microseconds timeout) {
    proxy.callMethod(
        call, sdbus::async_reply_handler([handler = std::move(handler)](sdbus::MethodReply& reply, const sdbus::Error* error) {
            handler(reply, error);
        }),
        toUsec(timeout));
}

#endif

/// Returns libsystemd's object for the message.
inline sd_bus_message* rawMessage(const sdbus::Message& message) {
    struct Raw : sdbus::Message {
        static void* of(const sdbus::Message& any) { return any.*&Raw::msg_; }
    };
    return static_cast<sd_bus_message*>(Raw::of(message));
}

/// Returns libsystemd's object for the connection. The function rawBus() gets the connection from a message, because every
/// message knows its connection.
inline sd_bus* rawBus(sdbus::IConnection& connection) {
    const auto proxy = makeProxy(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus");
    return sd_bus_message_get_bus(rawMessage(makeCall(*proxy, "org.freedesktop.DBus.Peer", "Ping")));
}

/// Returns true if the message is a broadcast. The bus has checked the sender of a broadcast signal. The bus delivers a
/// broadcast only to connections with a match rule for the broadcast's sender. Anybody can send a direct message to pinfoldd's
/// connection, and the bus does not compare direct messages with match rules. libsystemd compares each message with the match
/// rules of pinfoldd, but accepts any unique name as the sender (bus-match.c).
inline bool isBroadcast(sd_bus_message* message) { return sd_bus_message_get_destination(message) == nullptr; }

using Match = decltype(addMatch(std::declval<sdbus::IConnection&>(), std::string(), [](sdbus::Message&) {}));

} // namespace pinfold::dbus
