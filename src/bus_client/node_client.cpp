// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus_client/node_client.hpp"

#include "base/bus_names.hpp"
#include "base/escape.hpp"
#include "bus_client/ask.hpp"
#include "os/quiet_thread.hpp"
#include "systemd/sdbus_compat.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <vector>

namespace pinfold {
namespace {

constexpr const char* kBus = "org.freedesktop.DBus";
constexpr const char* kBusPath = "/org/freedesktop/DBus";

static_assert(NodeClient::kTimeLimit == kShortTime);

/// Converts exceptions of sdbus-c++ to errors.
template <class F> auto answered(F&& call) -> Result<decltype(call())> {
    try {
        return call();
    } catch (const sdbus::Error& error) {
        const auto name = dbus::errorName(error);
        const bool late = name.ends_with(".NoReply") || name.ends_with(".Timeout") || name.ends_with(".ETIMEDOUT");
        return Error{late ? ErrorCode::TimedOut : ErrorCode::Unreachable, printable(error.getMessage(), 200)};
    }
}

std::string text(const sdbus::Variant& value) {
    const auto type = std::string(value.peekValueType());
    if (type == "s")
        return value.get<std::string>();
    if (type == "b")
        return value.get<bool>() ? "yes" : "no";
    if (type == "u")
        return std::to_string(value.get<std::uint32_t>());
    if (type == "t")
        return std::to_string(value.get<std::uint64_t>());
    std::string list;
    if (type == "as")
        for (const auto& entry : value.get<std::vector<std::string>>())
            list += (list.empty() ? "" : " ") + entry;
    return list;
}

} // namespace

struct NodeClient::Impl {
    std::unique_ptr<sdbus::IConnection> connection;
};

NodeClient::NodeClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NodeClient::NodeClient(NodeClient&&) noexcept = default;
NodeClient& NodeClient::operator=(NodeClient&&) noexcept = default;
NodeClient::~NodeClient() = default;

Result<NodeClient> NodeClient::connect() {
    ::setenv("SYSTEMD_BUS_TIMEOUT", fmt::format("{}us", toUsec(kTimeLimit)).c_str(), 1);
    // A separate thread connects to the bus. If a bus accepts the connection but sends nothing, libsystemd waits for 90 s, and
    // ignores SYSTEMD_BUS_TIMEOUT. When the time limit is over, connect() returns, and the separate thread continues to wait for
    // the bus.
    using Made = Result<std::unique_ptr<Impl>>;
    const auto connecting = std::make_shared<std::packaged_task<Made()>>([] {
        return answered([] {
            auto made = std::make_unique<Impl>();
            made->connection = dbus::systemBus();
            return made;
        });
    });
    auto made = connecting->get_future();
    startQuietThread([connecting] { (*connecting)(); });
    if (made.wait_for(std::chrono::microseconds(kTimeLimit)) != std::future_status::ready)
        return Error{ErrorCode::TimedOut, "pinfoldd accepts connections, but does not answer"};
    auto impl = made.get();
    return impl ? Result<NodeClient>(NodeClient(std::move(*impl))) : Result<NodeClient>(impl.error());
}

Result<NodeClient::Properties> NodeClient::properties(const std::string& service, const std::string& path,
                                                      const std::string& interface) const {
    return answered([&] {
        const auto proxy = dbus::makeProxy(*impl_->connection, service, path);
        Properties properties;
        for (const auto& [name, value] : askInShort<dbus::Dict>(*proxy, "org.freedesktop.DBus.Properties", "GetAll", interface))
            properties.emplace(name, text(value));
        return properties;
    });
}

Result<NodeClient::Properties> NodeClient::unit(const std::string& name) const {
    const auto path = answered([&] {
        const auto proxy = dbus::makeProxy(*impl_->connection, kSystemdName, kSystemdPath);
        return askInShort<sdbus::ObjectPath>(*proxy, "org.freedesktop.systemd1.Manager", "LoadUnit", name);
    });
    return path ? properties(kSystemdName, *path, "") : Result<Properties>(path.error());
}

Result<std::optional<std::string>> NodeClient::ownerOf(const std::string& name) const {
    return answered([&]() -> std::optional<std::string> {
        try {
            return askInShort<std::string>(*dbus::makeProxy(*impl_->connection, kBus, kBusPath), kBus, "GetNameOwner", name);
        } catch (const sdbus::Error& error) {
            if (dbus::errorName(error) == "org.freedesktop.DBus.Error.NameHasNoOwner")
                return std::nullopt;
            throw;
        }
    });
}

Result<bool> NodeClient::canBeStarted(const std::string& name) const {
    return answered([&] {
        const auto names = askInShort<std::vector<std::string>>(*dbus::makeProxy(*impl_->connection, kBus, kBusPath), kBus,
                                                                "ListActivatableNames");
        return std::find(names.begin(), names.end(), name) != names.end();
    });
}

} // namespace pinfold
