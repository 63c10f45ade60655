// SPDX-License-Identifier: LGPL-2.1-or-later
// What other services on the system bus say about this node, for `pinfold doctor`. A question starts no service, except systemd's
// own units, and has a time limit of two seconds.
#pragma once

#include "base/result.hpp"

#include <map>
#include <memory>
#include <string>

namespace pinfold {

/// Errors of every call: Unreachable, with the bus's words; TimedOut.
class NodeClient {
public:
    static constexpr std::uint64_t kTimeLimit = 2'000'000; ///< microseconds for each call

    /// Connects to the system bus. Sets SYSTEMD_BUS_TIMEOUT, which limits calls without a limit of their own.
    static Result<NodeClient> connect();
    NodeClient(NodeClient&&) noexcept;
    NodeClient& operator=(NodeClient&&) noexcept;
    ~NodeClient();

    /// Properties as text: lists have blanks between their entries, truth values are "yes" or "no". Structures and the like are
    /// left out.
    using Properties = std::map<std::string, std::string>;
    /// The properties of an object. `interface`: "" stands for all interfaces.
    Result<Properties> properties(const std::string& service, const std::string& path, const std::string& interface) const;
    /// The properties of a unit, also of one that is not loaded.
    Result<Properties> unit(const std::string& name) const;
    /// True: a service on the bus has this name.
    Result<bool> hasOwner(const std::string& name) const;
    /// True: the bus can start a service with this name.
    Result<bool> canBeStarted(const std::string& name) const;

private:
    struct Impl;
    explicit NodeClient(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
