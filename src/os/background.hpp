// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the interface for all calls that may block.
//
// Calls that need a disk, a server or the network may take long. An fsync on a busy disk can take a minute. A broken file server
// may never answer. A name service may wait for the network. If another program has made a descriptor, close() may flush a file
// or wait for the peer of a socket. Background has threads of its own for calls that may take long. The event loop's thread makes
// the following calls, because the kernel needs only data in memory for these calls:
// - The event loop's thread reads and writes cgroup files, and files in /run such as the records of live jobs.
// - The event loop's thread reads files in /proc and /sys such as /proc/PID/stat, /proc/PID/status and /proc/PID/cgroup. The
//   kernel does not lock a process when a thread reads, for example, /proc/PID/stat.
// - The event loop's thread reads events of inotify, lines of the kernel's log, timers and signals. For inotify, the kernel's
//   log, timers and signals, read(2) does not block.
// - The event loop's thread uses three sockets, and never blocks on a socket. The sockets are the connection to the bus, the
//   socket for wrappers, and the socket for messages from services to systemd (NotifySocket).
//
// As an exception, the event loop's thread reads the configuration at the start and at each reload. As a second exception, the
// event loop's thread reads drain.json at the start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

namespace pinfold {

/// Lists the lanes. A lane is a queue for calls that may block. Calls that can hang for the same reason share a lane. If a call
/// hangs, the calls in other lanes continue.
enum class Lane {
    HistoryWrite, ///< the lane for transactions of history.db; only one transaction runs at a time
    HistoryRead,  ///< the lane for queries of history.db
    Processes,    ///< the lane for files such as /proc/PID/cmdline; the kernel locks the process during the read
    WaitPoints,   ///< the lane that finds out where in the kernel threads wait; a process may have thousands of threads
    Descriptors,  ///< the lane for close() of descriptors that other users' programs made
    Output,       ///< the lane for lines that pinfoldd writes to the standard error of jobs
    Journal,      ///< the lane for messages to journald; pinfoldd sends the oldest message first
    Names,        ///< the lane for questions to the name service
    Files,        ///< the lane that writes drain.json and reads /etc/subuid
    Metrics,      ///< the lane for the file that the site names in metrics.textfile
    Script,       ///< the lane that checks the program of unkillable.script before pinfoldd runs it
    Moves,  ///< the lane that moves processes into other cgroups; each move waits for all forks and exits in progress on the node
    Owners, ///< the lane for an owner's request to look at all processes of a job; a job may have thousands of processes
    Kills,  ///< the lane that sends SIGKILL to processes that survived cgroup.kill; each kill takes about 20 ms
};
inline constexpr std::size_t kLanes = 14;

std::string_view toString(Lane lane);

/// Runs work in threads. Tests use another implementation of Background. Only the event loop's thread may use a Background.
class Background {
public:
    /// Limits how many calls of a lane may hang at the same time, and how many further calls may wait.
    struct Bound {
        std::size_t threads;
        std::size_t queued;
    };
    static Bound boundOf(Lane lane);

    virtual ~Background() = default;
    /// Runs `work` in a thread of the lane. When the work is done, the event loop's thread calls `then`. A lane with one thread
    /// does its work in the order of the calls of run(). `work` must not throw. `work` must own all data that it uses, because
    /// `work` may still run when the Background no longer exists. If the Background no longer exists, nothing calls `then`.
    /// Returns false if too many earlier calls in this lane hang. When run() returns false, Background calls neither `work` nor
    /// `then`, and refused() counts the call.
    virtual bool run(Lane lane, std::function<void()> work, std::function<void()> then) = 0;
    /// Counts a refused call of the lane, and calls onRefused. run() calls refuse() before it returns false. If a class has its
    /// own limit for the work in a lane, the class calls refuse() for each call that it refuses.
    void refuse(Lane lane);
    /// Returns how often refuse() was called for the lane.
    std::uint64_t refused(Lane lane) const { return refused_[static_cast<std::size_t>(lane)]; }
    /// refuse() calls onRefused. The function in onRefused may call run().
    std::function<void(Lane)> onRefused;

    /// Calls run(), and passes the result of `work` to `then`.
    template <class Work, class Then> bool ask(Lane lane, Work work, Then then) {
        auto result = std::make_shared<std::optional<std::invoke_result_t<Work&>>>();
        return run(
            lane, [result, work = std::move(work)]() mutable { result->emplace(work()); },
            [result, then = std::move(then)]() mutable { then(std::move(**result)); });
    }

private:
    std::array<std::uint64_t, kLanes> refused_{};
};

} // namespace pinfold
