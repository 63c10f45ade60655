// SPDX-License-Identifier: LGPL-2.1-or-later
// Examines processes of other users, although the examination of a process can hang for ever.
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

/// Reading /proc/PID/cmdline and /proc/PID/maps takes the lock of the process's memory. A user with a file server can make a
/// process hold its memory lock (mmap_lock) for ever. ProcessLooks reads the files in /proc in a separate thread, because the
/// read can hang. If the thread takes too long, ProcessLooks abandons the thread, and nothing waits for the thread any more. An
/// abandoned thread ends when `look` returns, or when the program ends. pinfoldd does not use ProcessLooks, because ProcessLooks
/// makes its caller wait. pinfoldd uses the class Describer to examine processes.
///
/// setuid(3) and similar functions of glibc wait for all threads, even for a thread that ProcessLooks has abandoned. A thread
/// must change its own user ids with syscall(2) and not with a function of glibc.
class ProcessLooks {
public:
    /// The maximum number of threads that hang at the same time while they look at processes of one user.
    static constexpr std::size_t kMostOfOne = 4;
    /// At most kMostOfUsers threads hang at the same time while they look at processes of users other than root.
    static constexpr std::size_t kMostOfUsers = 64;

    /// Limits the time that ProcessLooks spends on all processes of one user together. ProcessLooks does not limit the time for
    /// root's processes.
    static constexpr std::chrono::seconds kTimeOfOne{30};

    /// `patience` is the maximum time for one call of the function `look`. `subordinates` says which user owns a subordinate id.
    /// A process with a subordinate id counts as a process of the user who owns the subordinate id.
    explicit ProcessLooks(std::chrono::milliseconds patience, SubordinateIds subordinates = {},
                          std::chrono::milliseconds timeOfOne = kTimeOfOne)
        : patience_(patience), timeOfOne_(timeOfOne), subordinates_(std::move(subordinates)) {}
    ~ProcessLooks();
    ProcessLooks(const ProcessLooks&) = delete;
    ProcessLooks& operator=(const ProcessLooks&) = delete;

    /// Returns the Result that the function `look` returns. Another thread calls `look`, so the function must own all data that
    /// it uses. into() fails with TimedOut if the function `look` takes longer than `patience`. into() fails with Internal if the
    /// kernel cannot start a thread. into() fails with Busy if ProcessLooks did not call the function `look`. The message of
    /// TimedOut names the process and the time limit. ProcessLooks does not call `look` while an earlier call for this process
    /// hangs, or while too many calls for other processes hang. When the calls for an ordinary user's processes have taken the
    /// time `timeOfOne` in total, into() no longer calls `look` for this user.
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
        std::string who; ///< the owner of the process, as ownerOf() returns it
    };

    Result<void> run(pid_t pid, uid_t user, std::function<void()> look);
    Result<void> allowed(pid_t pid, uid_t user, const std::string& who) const;

    std::chrono::milliseconds patience_;
    std::chrono::milliseconds timeOfOne_;
    SubordinateIds subordinates_;
    std::shared_ptr<Thread> thread_; ///< the thread that will call the next `look`
    std::vector<LeftBehind> leftBehind_;
    /// Maps each user to the time that ProcessLooks has spent on the user's processes. Each key is a text that ownerOf() has
    /// returned.
    std::map<std::string, std::chrono::steady_clock::duration> spent_;
};

/// Reads `file` (subuid(5)). If the file cannot be read, the result is empty, and each subordinate id counts as a user of its
/// own.
SubordinateIds readSubordinateIds(const char* file = "/etc/subuid");

} // namespace pinfold
