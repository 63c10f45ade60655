// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/result.hpp"
#include "core/access/caller_limits.hpp"
#include "systemd/sdbus_compat.hpp"

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pinfold {

/// Finds out to which user a unique bus name belongs. Like getCredsEuid(), CallerResolver asks the bus with
/// GetConnectionUnixUser, but asynchronously. CallerResolver remembers the user of each unique name, because the bus never uses a
/// unique name twice.
class CallerResolver {
public:
    using Done = std::function<void(Result<Caller>)>;

    CallerResolver(sdbus::IConnection& connection, const CallerLimits& clients);

    /// Calls `done` with the caller, sometimes before resolve() returns. Fails with Busy if too many calls of the sender already
    /// wait. Fails with Denied if the bus does not know the user, for instance because the caller has disconnected.
    void resolve(const std::string& sender, Done done);

    /// Returns the user who owns the connection `sender`, or nullopt if resolve() has not found this user before.
    std::optional<Caller> known(const std::string& sender) const;

private:
    void answered(const std::string& sender, Result<uid_t> uid);

    std::unique_ptr<sdbus::IProxy> bus_;
    const CallerLimits& clients_;
    std::map<std::string, uid_t> known_;
    std::list<std::string> order_; ///< the known bus names; the oldest name comes first
    std::map<std::string, std::vector<Done>> waiting_;
};

} // namespace pinfold
