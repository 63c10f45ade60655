// SPDX-License-Identifier: LGPL-2.1-or-later
// For `pinfold doctor`, NodeClient asks services on the system bus, such as systemd, about this node. A call of NodeClient has
// a time limit of two seconds. If a service does not run, a call can make the bus start the service, but only if the service is
// a part of systemd.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"

#include <map>
#include <memory>
#include <string>

namespace pinfold {

/// Asks services on the system bus for facts about this node. Every call can return the error TimedOut, or the error Unreachable
/// with the error message of the bus.
class NodeClient {
public:
    static constexpr Microseconds kTimeLimit = 2s; ///< the time limit for each call

    /// Connects to the system bus, and sets the environment variable SYSTEMD_BUS_TIMEOUT. A call that sets no time limit has the
    /// time limit SYSTEMD_BUS_TIMEOUT.
    static Result<NodeClient> connect();
    NodeClient(NodeClient&&) noexcept;
    NodeClient& operator=(NodeClient&&) noexcept;
    ~NodeClient();

    /// Holds the properties of an object on the bus, as text. Blanks separate the entries of a list. Boolean values are "yes" or
    /// "no". `Properties` has no values of complex types, such as structures.
    using Properties = std::map<std::string, std::string>;
    /// Returns the properties of an object. If `interface` is empty, properties() returns the properties of all interfaces.
    Result<Properties> properties(const std::string& service, const std::string& path, const std::string& interface) const;
    /// Returns the properties of a unit, even of a unit that is not loaded.
    Result<Properties> unit(const std::string& name) const;
    /// Returns the unique name (such as ":1.42") of the service that runs under the given name on the bus. Returns nullopt if no
    /// running service has the name.
    Result<std::optional<std::string>> ownerOf(const std::string& name) const;
    /// Returns true if the bus can start a service with the given name.
    Result<bool> canBeStarted(const std::string& name) const;

private:
    struct Impl;
    explicit NodeClient(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
