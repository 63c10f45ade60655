// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes processes for reports. Some facts the kernel tells only under a lock of the process, so threads read these facts.
#pragma once

#include "core/context.hpp"
#include "os/process.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

namespace pinfold {

class Describer {
public:
    /// A description takes at most this many microseconds. A fact that is not known by then stays unknown, because some process
    /// hangs and holds the lock of its memory.
    static constexpr std::uint64_t kPatience = 1'000'000;

    /// The number of threads that read the processes of one user at the same time. If one thread hangs, the other thread reads
    /// the other processes.
    static constexpr std::size_t kThreadsPerUser = 2;
    /// The number of threads that read the processes of all users except root. The threads for root's processes never wait for
    /// processes of other users.
    static constexpr std::size_t kThreadsOfUsers = 12;
    using Done = std::function<void(std::vector<ProcessInfo>)>;

    explicit Describer(CoreContext& context);
    ~Describer();

    /// Begins to read the command lines of processes that ProcessTable::read() has seen, and returns at once. `owner` is the
    /// owner of the job that has the processes. Describer calls `done` within kPatience, and possibly at once, with the processes
    /// in the same order. A process whose command line cannot be read has "[name]" in its place. Describer does not call `done`
    /// any more after Describer's own end.
    void describe(uid_t owner, std::vector<ProcessInfo> processes, Done done);
    /// Does what describe() does, but first finds out what the processes hang in (ProcessTable::readStuck). This search never
    /// hangs, and needs no command line, so it has no time limit. A process that has ended meanwhile stays as the caller passed
    /// it. Returns false if too many requests wait already; then Describer does not call `done`.
    [[nodiscard]] bool describeStuck(uid_t owner, std::vector<ProcessInfo> processes, Done done);

private:
    struct Reading;
    struct Batch;
    struct Request;
    /// Holds the threads for one user's processes. The threads for another user's processes do not wait for them.
    struct Share {
        std::size_t threads = 0;
        std::deque<std::shared_ptr<Request>> waiting; ///< a request is in the queue once for each thread that the request is to
                                                      ///< have
    };

    void serve();
    /// Begins the request in a thread. Returns false if no thread is free for the request now.
    bool begin(uid_t user, const std::shared_ptr<Request>& request);
    void finish(const std::shared_ptr<Request>& request);

    CoreContext& context_;
    std::map<uid_t, Share> shares_; ///< for each user that has or wants threads
    std::size_t threadsOfUsers_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::shared_ptr<Reading> reading_; ///< the threads share it, and may outlive this object
    std::set<std::shared_ptr<Request>> requests_;
};

} // namespace pinfold
