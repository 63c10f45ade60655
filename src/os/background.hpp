// SPDX-License-Identifier: LGPL-2.1-or-later
// Declares the interface for all calls that can block.
//
// Calls that need a disk, a server or the network can take long. An fsync on a busy disk can take a minute. A call to a broken
// file server can hang for ever. A name service can wait for the network. If another program has made a descriptor, close() can
// flush a file or wait for the peer of a socket. The class Background has its own threads for calls that can take long. For the
// following calls, the kernel needs only data in memory, so the event loop's thread makes the calls itself:
// - The event loop's thread reads and writes cgroup files, and files in /run such as the records of live jobs.
// - The event loop's thread reads files in /proc and /sys such as /proc/PID/stat, /proc/PID/status and /proc/PID/cgroup. The
//   kernel does not lock a process when a thread reads, for example, /proc/PID/stat.
// - The event loop's thread reads events of inotify, lines of the kernel's log, timers and signals. read(2) does not block when
//   the thread reads from inotify, the kernel's log, a timer or a signal descriptor.
// - The event loop's thread uses three sockets, and never blocks on a socket. The sockets are the connection to the bus, the
//   socket for wrappers, and the socket for messages from services to systemd (NotifySocket).
//
// Although a read of the configuration can block, the event loop's thread reads the configuration when pinfoldd starts or
// reloads. Although a read of drain.json can block, the event loop's thread reads drain.json when pinfoldd starts.
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

/// Lists the lanes. A lane is a queue for calls that can block. Two calls that can hang for the same reason use the same lane. If
/// a call in one lane hangs, the calls in all other lanes continue.
enum class Lane {
    HistoryWrite, ///< the queue for transactions that write history.db; only one transaction runs at a time
    HistoryRead,  ///< the queue for queries that read history.db
    Processes,    ///< the queue for reading files such as /proc/PID/cmdline, for which the kernel locks the process
    WaitPoints,   ///< the queue for reading the names of the kernel functions in which the threads of a process wait
    Descriptors,  ///< the queue for closing descriptors that other users' programs made
    Output,       ///< the queue for writing lines to the standard error of jobs
    Journal,      ///< the queue for sending messages to journald, the oldest message first
    Names,        ///< the queue for look-ups in the name service
    Files,        ///< the queue for writing drain.json and for reading /etc/subuid
    Metrics,      ///< the queue for writing the file that the site names in metrics.textfile
    Script,       ///< the queue for checking the program that the setting unkillable.script names
    Moves,        ///< the queue for moving processes into other cgroups; each move waits for all forks and exits on the node
    Owners,       ///< the queue for examining all processes of a job at the request of the job's owner
    Kills,        ///< the queue for sending SIGKILL to processes that survived cgroup.kill; each kill takes about 20 ms
};
inline constexpr std::size_t kLanes = 14;

std::string_view toString(Lane lane);

/// Runs work in threads. The unit tests have their own class that implements Background. Only the event loop's thread is allowed
/// to use a Background.
class Background {
public:
    /// `threads` is the maximum number of calls of one lane that run or hang at the same time. `queued` is the maximum number of
    /// calls that wait until a thread of the lane is free.
    struct Bound {
        std::size_t threads;
        std::size_t queued;
    };
    static Bound boundOf(Lane lane);

    virtual ~Background() = default;
    /// Runs `work` in a background thread of `lane`. When the work is done, the event loop's thread calls `then`. If a lane has
    /// only one thread, the thread does the work in the order of the calls of run(). `work` must not throw. `work` can still run
    /// when the Background no longer exists, so `work` must own all data that `work` uses. If the Background no longer exists,
    /// nothing calls `then`. Returns false if the lane is full because too many earlier calls hang. When run() returns false,
    /// Background calls neither `work` nor `then`, and refused() counts the call.
    virtual bool run(Lane lane, std::function<void()> work, std::function<void()> then) = 0;
    /// Adds 1 to the number of refused calls of `lane`, and calls onRefused. Before run() returns false, run() calls refuse(). A
    /// class that implements Background can have its own limit for the work in a lane. If the class refuses a call because of the
    /// class's limit, the class must call refuse().
    void refuse(Lane lane);
    /// Returns how often refuse() was called for `lane`.
    std::uint64_t refused(Lane lane) const { return refused_[static_cast<std::size_t>(lane)]; }
    /// refuse() calls onRefused. The function in onRefused is allowed to call run().
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
