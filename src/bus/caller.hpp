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

/// Finds out who is behind a unique bus name. It asks the bus (GetConnectionUnixUser, which getCredsEuid() asks, too)
/// asynchronously, and remembers the answer by unique name, which is never used twice while the bus lives.
class CallerResolver {
public:
    using Done = std::function<void(Result<Caller>)>;

    CallerResolver(sdbus::IConnection& connection, const CallerLimits& clients);

    /// `done` may be called at once. Errors: Denied when the bus does not know the user (for instance, the caller is gone); Busy
    /// when too many of this sender's calls wait already.
    void resolve(const std::string& sender, Done done);

    /// What an earlier resolve() has found out.
    std::optional<Caller> known(const std::string& sender) const;

private:
    void answered(const std::string& sender, Result<uid_t> uid);

    std::unique_ptr<sdbus::IProxy> bus_;
    const CallerLimits& clients_;
    std::map<std::string, uid_t> known_;
    std::list<std::string> order_; ///< oldest first
    std::map<std::string, std::vector<Done>> waiting_;
};

} // namespace pinfold
