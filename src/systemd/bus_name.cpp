// SPDX-License-Identifier: LGPL-2.1-or-later
#include "systemd/bus_name.hpp"

#include <cstdint>
#include <utility>

namespace pinfold {
namespace {

constexpr const char* kBusInterface = "org.freedesktop.DBus";
constexpr Microseconds kTimeout = 25s; // libsystemd waits for this time in a call without a time-out of its own

// The following numbers are from the section "org.freedesktop.DBus.RequestName" of the D-Bus specification.
constexpr std::uint32_t kDoNotQueue = 4;
constexpr std::uint32_t kPrimaryOwner = 1;
constexpr std::uint32_t kAlreadyOwner = 4;

} // namespace

BusName::BusName(sdbus::IConnection& connection, const EventLoop& loop, std::string name)
    : name_(std::move(name)), bus_(dbus::makeProxy(connection, kBusInterface, "/org/freedesktop/DBus")),
      calls_(*bus_, loop, 1, kTimeout) {}

void BusName::request(std::function<void(Result<void>)> done) {
    auto call = dbus::makeCall(*bus_, kBusInterface, "RequestName");
    call << name_ << kDoNotQueue;
    calls_.call(std::move(call), [done = std::move(done)](sdbus::MethodReply& reply, const sdbus::Error* error) {
        if (error)
            return done(Error{ErrorCode::Unreachable, error->getMessage()});
        std::uint32_t answer = 0;
        reply >> answer;
        if (answer != kPrimaryOwner && answer != kAlreadyOwner)
            return done(Error{ErrorCode::AlreadyExists, "another program owns the name"});
        done({});
    });
}

} // namespace pinfold
