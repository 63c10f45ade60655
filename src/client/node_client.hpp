// SPDX-License-Identifier: LGPL-2.1-or-later
// What others on the system bus say of this node, for `pinfold doctor`. Nobody is started by being asked, but for systemd's own
// units, and nobody is waited for longer than two seconds.
#pragma once

#include "base/result.hpp"

#include <map>
#include <memory>
#include <string>

namespace pinfold {

/// Errors of every call: Unreachable, with the bus's words; TimedOut.
class NodeClient {
public:
    static constexpr std::uint64_t kTimeLimit = 2'000'000; ///< microseconds, of each call

    /// The system bus. Sets SYSTEMD_BUS_TIMEOUT, which bounds what has no limit of its own.
    static Result<NodeClient> connect();
    NodeClient(NodeClient&&) noexcept;
    NodeClient& operator=(NodeClient&&) noexcept;
    ~NodeClient();

    /// As text: lists with blanks between, truth as "yes" or "no". Structures and the like are left out.
    using Properties = std::map<std::string, std::string>;
    /// `interface` "": those of all interfaces.
    Result<Properties> properties(const std::string& service, const std::string& path, const std::string& interface) const;
    /// Of a unit, also of one that is not loaded.
    Result<Properties> unit(const std::string& name) const;
    /// Is somebody there who has the name?
    Result<bool> hasOwner(const std::string& name) const;
    /// Would somebody be started who gets it?
    Result<bool> canBeStarted(const std::string& name) const;

private:
    struct Impl;
    explicit NodeClient(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace pinfold
