// SPDX-License-Identifier: LGPL-2.1-or-later
// Asks other services on the system bus about this node, for `pinfold doctor`. A question starts no service (except systemd's own
// units), and has a time limit of two seconds.
#pragma once

#include "base/result.hpp"

#include <map>
#include <memory>
#include <string>

namespace pinfold {

/// Asks services on the bus. Every call can return these errors: Unreachable, with the bus's words; TimedOut.
class NodeClient {
public:
    static constexpr std::uint64_t kTimeLimit = 2'000'000; ///< microseconds for each call

    /// Connects to the system bus. Sets SYSTEMD_BUS_TIMEOUT, which limits calls that have no own limit.
    static Result<NodeClient> connect();
    NodeClient(NodeClient&&) noexcept;
    NodeClient& operator=(NodeClient&&) noexcept;
    ~NodeClient();

    /// Holds properties as text. Lists have blanks between their entries, and truth values are "yes" or "no". Structures and
    /// similar values are left out.
    using Properties = std::map<std::string, std::string>;
    /// Returns the properties of an object. The interface "" stands for all interfaces.
    Result<Properties> properties(const std::string& service, const std::string& path, const std::string& interface) const;
    /// Returns the properties of a unit, even of a unit that is not loaded.
    Result<Properties> unit(const std::string& name) const;
    /// Returns true if a service on the bus has this name.
    Result<bool> hasOwner(const std::string& name) const;
    /// Returns true if the bus can start a service with this name.
    Result<bool> canBeStarted(const std::string& name) const;

private:
    struct Impl;
    explicit NodeClient(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
