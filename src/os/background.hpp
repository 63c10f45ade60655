// SPDX-License-Identifier: LGPL-2.1-or-later
// The one place for calls that may block.
//
// The loop's thread asks the kernel only for what it answers from memory: /run, cgroup files, /proc/PID/stat, sockets that do not
// block. A disk that is busy takes a minute for an fsync, a file server that hangs never answers, a name service waits for the
// network, and close() of a descriptor that somebody else made flushes a file or lingers on a socket. All of that is work for a
// thread of one of these lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace pinfold {

/// What can hang for the same reason shares a lane, so that what hangs holds up nothing else.
enum class Lane {
    HistoryWrite, ///< transactions of history.db, one after the other
    HistoryRead,  ///< queries of history.db
    Processes,    ///< files in /proc that take a lock of the process, such as cmdline
    WaitPoints,   ///< where processes hang: it takes no lock of theirs, but they may have thousands of threads
    Descriptors,  ///< close() of descriptors that others made
    Output,       ///< lines in the standard error of jobs
    Journal,      ///< messages for journald, in their order
    Names,        ///< the name service
    Files,        ///< pinfold's own small files on a disk, one after the other
    Metrics,      ///< the file of metrics.textfile, on a disk of the site's
    Script,       ///< a look at unkillable.script before it is run
    Moves,        ///< processes into another cgroup, which waits for each fork and exit of the node that has begun
    Owners,       ///< looks at all processes of a job, for what its owner asks: nothing hangs, but there may be thousands
    Kills,        ///< SIGKILL to what the kernel's kill of a cgroup has left out: nothing hangs, but it takes some 20 ms
};
inline constexpr std::size_t kLanes = 14;

/// Seam. All calls are made by the loop's thread.
class Background {
public:
    /// How many calls of a lane may hang at once, and how many may wait behind them.
    struct Bound {
        std::size_t threads;
        std::size_t queued;
    };
    static Bound boundOf(Lane lane);

    virtual ~Background() = default;
    /// Runs `work` in a thread of the lane and then `then` on the loop. Work of a lane with one thread is done in order. `work`
    /// lets no exception out, and owns all that it uses: it may outlive the Background, and then `then` is not called.
    /// False: too much hangs in this lane. Neither is called, and refused() counts it.
    virtual bool run(Lane lane, std::function<void()> work, std::function<void()> then) = 0;
    /// How often run() has said false.
    virtual std::uint64_t refused(Lane lane) const = 0;

    /// The same for work that has a result: `then` gets it.
    template <class Work, class Then> bool ask(Lane lane, Work work, Then then) {
        auto result = std::make_shared<std::optional<std::invoke_result_t<Work&>>>();
        return run(
            lane, [result, work = std::move(work)]() mutable { result->emplace(work()); },
            [result, then = std::move(then)]() mutable { then(std::move(**result)); });
    }
};

} // namespace pinfold
