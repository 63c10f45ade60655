// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "model/subordinate_ids.hpp"
#include "os/background.hpp"
#include "os/event_loop.hpp"

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinfold {

/// Finds the user who owns a subordinate user id. newuidmap(1) lets an ordinary user use a range of 65,536 subordinate user ids.
/// The file /etc/subuid lists the ranges of all users. If pinfoldd has a limit for each user, the user's own id and the user's
/// subordinate ids share the limit.
///
/// Background threads read /etc/subuid and ask the name service. Callers of SubordinateUsers never wait for the name service, so
/// results can be incomplete until the name service has answered.
class SubordinateUsers {
public:
    /// userOf() and idsOf() check whether /etc/subuid has changed, unless the last check was less than kLookAgain ago.
    static constexpr Microseconds kLookAgain = 10s;
    /// SubordinateUsers reads at most kMostBytes of /etc/subuid. kMostBytes is enough for about 200,000 users.
    static constexpr std::size_t kMostBytes = 4 << 20;

    struct Parts {
        EventLoop& loop;
        Background& background;
        std::filesystem::path file;
        /// Asks the name service for a user's id. A background thread (Lane::Names) calls findUser, because the name service can
        /// block.
        std::function<Result<uid_t>(const std::string& name)> findUser;
        /// Asks the name service for a user's name. A background thread (Lane::Names) calls `nameOf`, because the name service
        /// can block.
        std::function<Result<std::string>(uid_t user)> nameOf;
        std::function<void(const std::string&)> inform;
        std::function<void(const std::string&)> warn;
    };
    explicit SubordinateUsers(Parts parts) : parts_(std::move(parts)) {}

    /// Returns the owner of `id` if `id` is a subordinate id. If `id` is not a subordinate id, the result is `id`. While
    /// SubordinateUsers does not know the id of the range's owner, userOf() returns the first id of the range. If root owns the
    /// range, userOf() returns the first id of the range, so that no process counts as root's by mistake.
    uid_t userOf(uid_t id);
    /// Returns the user's own id and the subordinate ids. The subordinate ids are missing in the result of idsOf() until the name
    /// service has returned the user's name. When idsOf() is called for a user for the first time, SubordinateUsers asks the name
    /// service for the user's name.
    UserIds idsOf(uid_t user);
    /// Returns the results of userOf() for all subordinate ids. Any thread is allowed to read the object that owners() returns.
    std::shared_ptr<const SubordinateOwners> owners() const;
    /// Reads /etc/subuid again if the file has changed.
    void look();
    /// Returns true if SubordinateUsers has read /etc/subuid at least once. Until SubordinateUsers has read /etc/subuid, each id
    /// counts as a user of its own.
    bool hasLooked() const { return stamp_ != kNotRead; }

private:
    struct Range {
        SubordinateRange range;
        std::optional<uid_t> owner;
        bool asked = false;

        uid_t user(uid_t first) const { return owner.value_or(0) == 0 ? first : *owner; }
    };
    /// Contains the inode number, the size and the time of change of /etc/subuid. If two Stamps differ, somebody has changed the
    /// file.
    using Stamp = std::array<std::int64_t, 4>;
    static constexpr Stamp kNotRead{INT64_MIN};
    struct Look {
        Stamp stamp{};
        std::optional<SubordinateIds> ids; ///< the contents of /etc/subuid; unset if the file has not changed
        std::string trouble;
    };
    struct Known {
        std::vector<std::pair<uid_t, uid_t>> ranges; ///< the user's ranges of subordinate ids, as in UserIds::subordinate
        bool asked = false; ///< true if the name service was asked about the user after /etc/subuid was read
    };
    void lookIfDue();
    void askForName(uid_t user);
    static Look lookAt(const std::filesystem::path& file, const Stamp& known);
    void looked(Look look);
    void askFor(uid_t first, Range& range);

    Parts parts_;
    std::map<uid_t, Range> ranges_; ///< maps the first id of each range of subordinate ids to the range
    std::map<uid_t, Known> known_;  ///< maps a user id to what pinfoldd knows about the subordinate ids of the user
    Stamp stamp_ = kNotRead;
    std::optional<BootTime> lookedAt_; ///< the time at which SubordinateUsers last checked /etc/subuid (EventLoop::bootTime())
    bool looking_ = false;
    /// If asking_ is true, a question to the name service has no answer yet. SubordinateUsers asks the name service only one
    /// question at a time, so that other parts of pinfoldd can use Lane::Names.
    bool asking_ = false;
};

} // namespace pinfold
