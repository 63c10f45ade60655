// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

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
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pinfold {

/// Tells which user a user id counts as. By newuidmap(1) an ordinary user may act as 65,536 more users, as /etc/subuid says. What
/// is counted by user is counted for all of these together.
///
/// The file and the name service are asked in the background, and nobody waits. An answer depends on what is known at that time.
class SubordinateUsers {
public:
    /// Microseconds after which a question about a user makes SubordinateUsers look again whether the file has changed.
    static constexpr std::uint64_t kLookAgain = 10'000'000;
    static constexpr std::size_t kMostBytes = 4 << 20; ///< the most that is read of the file: some 200,000 users

    struct Parts {
        EventLoop& loop;
        Background& background;
        std::filesystem::path file;
        /// Asks the name service; called by a thread of Lane::Names.
        std::function<Result<uid_t>(const std::string& name)> findUser;
        std::function<Result<std::string>(uid_t user)> nameOf; ///< asks the name service for a user's name, in the same lane
        std::function<void(const std::string&)> inform;
        std::function<void(const std::string&)> warn;
    };
    explicit SubordinateUsers(Parts parts) : parts_(std::move(parts)) {}

    /// The owner, if the id is a subordinate id; else the id itself. If the owner's name is not known yet, or the owner is root,
    /// whose subordinate ids are for others, then all ids of the range count as the range's first id.
    uid_t userOf(uid_t id);
    /// This user's own id and the subordinate ids. The subordinate ids are missing until the user's name is known. The first
    /// question about a user asks for the name.
    UserIds idsOf(uid_t user);
    /// Looks whether the file has changed.
    void look();

private:
    struct Range {
        SubordinateRange range;
        std::optional<uid_t> owner;
        bool asked = false;
    };
    using Stamp = std::array<std::int64_t, 4>; ///< which file, and of when
    struct Look {
        Stamp stamp{};
        std::optional<SubordinateIds> ids; ///< unset: as before
        std::string trouble;
    };
    struct Known {
        std::vector<std::pair<uid_t, uid_t>> ranges; ///< as in UserIds
        bool asked = false;                          ///< since the file was read
    };
    void lookIfDue();
    void askForName(uid_t user);
    static Look lookAt(const std::filesystem::path& file, const Stamp& known);
    void looked(Look look);
    void askFor(uid_t first, Range& range);

    Parts parts_;
    std::map<uid_t, Range> ranges_; ///< by their first id
    std::map<uid_t, Known> known_;  ///< by user
    Stamp stamp_{INT64_MIN};
    std::optional<std::uint64_t> lookedAt_; ///< EventLoop::bootTime()
    bool looking_ = false;
    bool asking_ = false; ///< it asks for one name at a time, because others need the lane, too
};

} // namespace pinfold
