// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_client/daemon_state.hpp"

#include "base/bus_names.hpp"
#include "base/escape.hpp"
#include "bus_client/ask.hpp"

#include <fmt/format.h>

#include <map>
#include <string>

namespace pinfold {
namespace {

bool runs(sdbus::IConnection& connection) {
    const auto bus = dbus::makeProxy(connection, "org.freedesktop.DBus", "/org/freedesktop/DBus");
    return askInShort<bool>(*bus, "org.freedesktop.DBus", "NameHasOwner", std::string(kBusName));
}

std::map<std::string, sdbus::Variant> unitProperties(sdbus::IConnection& connection) {
    const auto manager = dbus::makeProxy(connection, kSystemdName, kSystemdPath);
    const auto unit = askInShort<sdbus::ObjectPath>(*manager, kSystemdInterface, "GetUnit", std::string("pinfoldd.service"));
    const auto proxy = dbus::makeProxy(connection, kSystemdName, unit);
    return askInShort<std::map<std::string, sdbus::Variant>>(*proxy, "org.freedesktop.DBus.Properties", "GetAll", std::string());
}

} // namespace

Result<void> checkDaemon(sdbus::IConnection& connection) {
    try {
        if (runs(connection))
            return {};
        auto properties = unitProperties(connection);
        if (properties["ActiveState"].get<std::string>() != "failed")
            return {};
        const auto said = properties["StatusText"].get<std::string>();
        const auto result = properties["Result"].get<std::string>();
        return Error{ErrorCode::Unreachable,
                     fmt::format("pinfoldd is not reachable: it does not start: {}; an administrator must fix this and run "
                                 "`systemctl restart pinfoldd`",
                                 said.empty() ? result : printable(said, 500))};
    } catch (const sdbus::Error&) {
        return {}; // if systemd does not answer, the next call to pinfoldd fails, and the error says why
    }
}

} // namespace pinfold
