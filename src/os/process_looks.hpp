// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks into other users' processes, even if a look never comes back.
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

/// Reading /proc/PID/cmdline and /proc/PID/maps takes the lock of the process's memory. A process that waits for a file server of
/// its own user holds that lock for as long as this user likes. So a thread looks, and is left behind when its time is over:
/// nobody waits for the thread, and it ends with this process. This is for a program that does one thing after the other;
/// pinfoldd has the Describer.
///
/// While threads are left behind, glibc's setuid(3) and similar functions would wait for them. So a thread must change its own
/// user ids by syscall(2).
class ProcessLooks {
public:
    static constexpr std::size_t kMostOfOne = 4;    ///< threads that hang in one user's processes
    static constexpr std::size_t kMostOfUsers = 64; ///< threads that hang in the processes of all users but root

    /// The time for all looks into the processes of one user. Root has no such limit.
    static constexpr std::chrono::seconds kTimeOfOne{30};

    /// `patience`: the time for one look. `subordinates`: a subordinate id counts as its owner.
    explicit ProcessLooks(std::chrono::milliseconds patience, SubordinateIds subordinates = {},
                          std::chrono::milliseconds timeOfOne = kTimeOfOne)
        : patience_(patience), timeOfOne_(timeOfOne), subordinates_(std::move(subordinates)) {}
    ~ProcessLooks();
    ProcessLooks(const ProcessLooks&) = delete;
    ProcessLooks& operator=(const ProcessLooks&) = delete;

    /// Returns the Result that `look` returns. Another thread calls `look`, so it must own all that it uses. Errors: those of
    /// `look`; TimedOut, with the process and the time for which we waited; Busy: no look was made, since other looks at this
    /// user's processes hang or have taken all of the user's time; Internal: there is no thread.
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
        std::string who; ///< as ownerOf() gives it, which asks no name service
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

/// The contents of `file` (subuid(5)). Empty if the file cannot be read, so that each id counts as a user.
SubordinateIds readSubordinateIds(const char* file = "/etc/subuid");

} // namespace pinfold
