// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks into other users' processes that never come back.
#pragma once

#include "base/result.hpp"
#include "model/subordinate_ids.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pinfold {

/// What /proc/PID/cmdline and /proc/PID/maps show takes the lock of the process's memory, and a process that waits for a file
/// server of its user's own holds that lock for as long as this user likes. So a thread looks, and is left behind when its time
/// is over: nobody waits for it, and it ends with this process. For a program that does one thing after the other; pinfoldd has
/// the Describer.
///
/// While threads are left behind, glibc's setuid(3) and all of its kind would wait for them: a thread changes its own user ids by
/// syscall(2) alone.
class ProcessLooks {
public:
    static constexpr std::size_t kMostOfOne = 4;    ///< threads that hang in one user's processes
    static constexpr std::size_t kMostOfUsers = 64; ///< in those of all users but root

    /// For all looks into processes of one user but root.
    static constexpr std::chrono::seconds kTimeOfOne{30};

    /// `patience`: for one look. `subordinates`: such an id counts as its owner.
    explicit ProcessLooks(std::chrono::milliseconds patience, SubordinateIds subordinates = {},
                          std::chrono::milliseconds timeOfOne = kTimeOfOne)
        : patience_(patience), timeOfOne_(timeOfOne), subordinates_(std::move(subordinates)) {}
    ~ProcessLooks();
    ProcessLooks(const ProcessLooks&) = delete;
    ProcessLooks& operator=(const ProcessLooks&) = delete;

    /// What `look` returns, a Result. Another thread calls it, so it owns all that it uses. Errors: its own; TimedOut, with the
    /// process and for how long it was waited for; Busy: no look was made, since others at this user's processes hang or have
    /// taken all of the user's time; Internal: there is no thread.
    template <class Look> std::invoke_result_t<Look&> into(pid_t pid, uid_t user, Look look) {
        auto seen = std::make_shared<std::optional<std::invoke_result_t<Look&>>>();
        const auto done = run(pid, user, [seen, look = std::move(look)]() mutable { seen->emplace(look()); });
        if (!done)
            return done.error();
        return std::move(**seen);
    }

private:
    class Thread;
    struct LeftBehind {
        std::shared_ptr<Thread> thread;
        pid_t pid;
        std::string who; ///< ownerOf(): nobody asks a name service for this
    };

    Result<void> run(pid_t pid, uid_t user, std::function<void()> look);
    Result<void> allowed(pid_t pid, uid_t user, const std::string& who) const;

    std::chrono::milliseconds patience_;
    std::chrono::milliseconds timeOfOne_;
    SubordinateIds subordinates_;
    std::shared_ptr<Thread> thread_; ///< for the next look
    std::vector<LeftBehind> leftBehind_;
    std::map<std::string, std::chrono::steady_clock::duration> spent_; ///< by LeftBehind::who
};

/// What `file`, as subuid(5) has it, says; nothing where it can't be read, so that each id counts as a user.
SubordinateIds readSubordinateIds(const char* file = "/etc/subuid");

} // namespace pinfold
