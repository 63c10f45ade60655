// SPDX-License-Identifier: LGPL-2.1-or-later
// The one place for calls that may block.
//
// The loop's thread asks the kernel only for what it answers from memory: /run, cgroup files, /proc/PID/stat, sockets that do not
// block. A disk that is busy takes a minute for an fsync, a file server that hangs never answers, a name service waits for the
// network, and close() of a descriptor that somebody else made flushes a file or lingers on a socket. A thread of one of these
// lanes does all such work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace pinfold {

/// Work that can hang for the same reason shares a lane, so that work that hangs delays nothing else.
enum class Lane {
    HistoryWrite, ///< transactions of history.db, one after the other
    HistoryRead,  ///< queries of history.db
    Processes,    ///< reads of files in /proc that take a lock of the process, such as cmdline
    WaitPoints,   ///< looks where processes hang: these take no lock of a process, but it may have thousands of threads
    Descriptors,  ///< close() of descriptors that others made
    Output,       ///< lines in the standard error of jobs
    Journal,      ///< messages for journald, in their order
    Names,        ///< questions to the name service
    Files,        ///< pinfold's own small files on a disk, one after the other
    Metrics,      ///< the file of metrics.textfile, on a disk that the site chooses
    Script,       ///< a look at unkillable.script before it is run
    Moves,        ///< moves of processes into another cgroup, which wait for each fork and exit of the node that has begun
    Owners,       ///< looks at all processes of a job, for its owner's requests: nothing hangs, but there may be thousands
    Kills,        ///< SIGKILL to processes that the kernel's kill of a cgroup left out: nothing hangs, but it takes some 20 ms
};
inline constexpr std::size_t kLanes = 14;

/// An interface that tests replace. Only the loop's thread calls it.
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
    /// False: too much hangs in this lane. Then neither of them is called, and refused() counts the call.
    virtual bool run(Lane lane, std::function<void()> work, std::function<void()> then) = 0;
    /// How often run() has returned false.
    virtual std::uint64_t refused(Lane lane) const = 0;

    /// As run(), for work that has a result: `then` gets the result.
    template <class Work, class Then> bool ask(Lane lane, Work work, Then then) {
        auto result = std::make_shared<std::optional<std::invoke_result_t<Work&>>>();
        return run(
            lane, [result, work = std::move(work)]() mutable { result->emplace(work()); },
            [result, then = std::move(then)]() mutable { then(std::move(**result)); });
    }
};

} // namespace pinfold
