// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes processes for reports. Threads read what the kernel tells only under a lock of the process.
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
    /// Microseconds. What is not known after this time stays unknown: some process hangs and holds the lock of its memory.
    static constexpr std::uint64_t kPatience = 1'000'000;

    /// Threads for one user's processes at once: while one of them hangs, the other goes on with the rest.
    static constexpr std::size_t kThreadsPerUser = 2;
    /// For the processes of all users but root; looks at root's processes never wait for others.
    static constexpr std::size_t kThreadsOfUsers = 12;
    using Done = std::function<void(std::vector<ProcessInfo>)>;

    explicit Describer(CoreContext& context);
    ~Describer();

    /// Begins to read the command lines of processes that ProcessTable::read() has seen, and waits for nothing. `owner`: the
    /// owner of the job that they belong to. `done` gets the processes in the same order, within kPatience, and may be called at
    /// once. A process whose command line cannot be read has "[name]". `done` is not called any more when the Describer is gone.
    void describe(uid_t owner, std::vector<ProcessInfo> processes, Done done);
    /// As describe(), but first finds out what the processes hang in (ProcessTable::readStuck). This has no time limit: it never
    /// hangs, and it needs no command line. A process that has ended meanwhile stays as it was passed. False: too many requests
    /// wait for this, and `done` will not be called.
    [[nodiscard]] bool describeStuck(uid_t owner, std::vector<ProcessInfo> processes, Done done);

private:
    struct Reading;
    struct Batch;
    struct Request;
    /// Threads for one user's processes. Looks at another user's processes do not wait for them.
    struct Share {
        std::size_t threads = 0;
        std::deque<std::shared_ptr<Request>> waiting; ///< a request is in it once for each thread that it is to have
    };

    void serve();
    /// Begins the request in a thread. False: no thread is free for it now.
    bool begin(uid_t user, const std::shared_ptr<Request>& request);
    void finish(const std::shared_ptr<Request>& request);

    CoreContext& context_;
    std::map<uid_t, Share> shares_; ///< of the users that have or want threads
    std::size_t threadsOfUsers_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::shared_ptr<Reading> reading_; ///< shared with the threads, which may outlive this object
    std::set<std::shared_ptr<Request>> requests_;
};

} // namespace pinfold
