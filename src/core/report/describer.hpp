// SPDX-License-Identifier: LGPL-2.1-or-later
// Describes processes for reports. To return some facts about a process, the kernel needs a lock that the process can hold for
// ever. Separate threads read each fact that needs such a lock, so that pinfoldd's loop never hangs.
#pragma once

#include "base/clock.hpp"
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
    /// Describer finishes each request within kPatience. If a fact cannot be read within kPatience, the description lacks the
    /// fact. The usual cause of a missing fact is a process that hangs in the kernel and holds the lock of its own memory.
    static constexpr Microseconds kPatience = 1s;

    /// The maximum number of threads that the Describer uses at the same time for one user's processes. If one process of a user
    /// makes a thread hang, another thread can read the user's other processes.
    static constexpr std::size_t kThreadsPerUser = 2;
    /// The maximum number of threads that read the processes of all ordinary users together. The Describer has separate threads
    /// for root's processes, so hanging processes of users never delay a report about root's processes.
    static constexpr std::size_t kThreadsOfUsers = 12;
    using Done = std::function<void(std::vector<ProcessInfo>)>;

    explicit Describer(CoreContext& context);
    ~Describer();

    /// Begins to read the command lines of `processes`, and returns at once. The caller gets `processes` from
    /// ProcessTable::read(). The argument `owner` is the owner of the job that contains `processes`. Describer calls `done`
    /// within kPatience, and possibly before describe() returns. `done` gets the processes in the same order as in `processes`.
    /// If the command line of a process cannot be read, the result contains the name of the process in brackets, "[name]". After
    /// the destruction of the Describer, nothing calls `done`.
    void describe(uid_t owner, std::vector<ProcessInfo> processes, Done done);
    /// Works like describe(), but first finds out where in the kernel the processes hang (ProcessTable::readStuck).
    /// describeStuck() sets no time limit for ProcessTable::readStuck(), because this function reads no command lines and never
    /// hangs. If a process ends before the Describer has read it, `done` gets the description that the caller passed to
    /// describeStuck(). If too many requests wait already, describeStuck() returns false, and Describer does not call `done`.
    [[nodiscard]] bool describeStuck(uid_t owner, std::vector<ProcessInfo> processes, Done done);

private:
    struct Reading;
    struct Batch;
    struct Request;
    /// Counts the threads that read the processes of one user. Hanging processes of one user block at most kThreadsPerUser
    /// threads. Other threads read the processes of other users.
    struct Share {
        std::size_t threads = 0;
        /// If several threads should work on a request, the queue `waiting` contains the request once for each of these
        /// threads.
        std::deque<std::shared_ptr<Request>> waiting;
    };

    void serve();
    /// Gives the request to a thread. Returns false if no thread is free now.
    bool begin(uid_t user, const std::shared_ptr<Request>& request);
    void finish(const std::shared_ptr<Request>& request);

    CoreContext& context_;
    std::map<uid_t, Share> shares_; ///< one Share for each user who has unfinished requests
    std::size_t threadsOfUsers_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::shared_ptr<Reading> reading_; ///< the object is shared with the threads, which can outlive the Describer
    std::set<std::shared_ptr<Request>> requests_;
};

} // namespace pinfold
