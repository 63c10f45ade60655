// SPDX-License-Identifier: LGPL-2.1-or-later
// Looks into other users' processes, although a look may never come back.
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
/// its own user holds that lock for as long as this user likes. So a thread looks. If the look takes too long, ProcessLooks
/// leaves the thread behind: nobody waits for the thread any more, and it ends with this program. ProcessLooks is for a program
/// that does one thing after the other; pinfoldd has the Describer instead.
///
/// glibc's setuid(3) and similar functions would wait for threads that are left behind. So a thread must change its own user ids
/// with syscall(2).
class ProcessLooks {
public:
    static constexpr std::size_t kMostOfOne = 4;    ///< threads that may hang in one user's processes
    static constexpr std::size_t kMostOfUsers = 64; ///< threads that may hang in the processes of all users but root

    /// All looks into the processes of one user together may take this long. Root has no such limit.
    static constexpr std::chrono::seconds kTimeOfOne{30};

    /// `patience` is the time for one look. By `subordinates`, a subordinate id counts as its owner.
    explicit ProcessLooks(std::chrono::milliseconds patience, SubordinateIds subordinates = {},
                          std::chrono::milliseconds timeOfOne = kTimeOfOne)
        : patience_(patience), timeOfOne_(timeOfOne), subordinates_(std::move(subordinates)) {}
    ~ProcessLooks();
    ProcessLooks(const ProcessLooks&) = delete;
    ProcessLooks& operator=(const ProcessLooks&) = delete;

    /// Returns the Result that `look` returns. Another thread calls `look`, so `look` must own all that it uses. Errors: those of
    /// `look`; TimedOut, with the process and the time that the look had; Busy if ProcessLooks did not look, because other looks
    /// at this user's processes hang or have taken all of the user's time; Internal if the kernel starts no thread.
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
        std::string who; ///< the result of ownerOf(), which asks no name service
    };

    Result<void> run(pid_t pid, uid_t user, std::function<void()> look);
    Result<void> allowed(pid_t pid, uid_t user, const std::string& who) const;

    std::chrono::milliseconds patience_;
    std::chrono::milliseconds timeOfOne_;
    SubordinateIds subordinates_;
    std::shared_ptr<Thread> thread_; ///< makes the next look
    std::vector<LeftBehind> leftBehind_;
    std::map<std::string, std::chrono::steady_clock::duration> spent_; ///< by LeftBehind::who
};

/// Reads `file` (subuid(5)). The result is empty if the file cannot be read; each id then counts as a user.
SubordinateIds readSubordinateIds(const char* file = "/etc/subuid");

} // namespace pinfold
