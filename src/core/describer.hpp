// SPDX-License-Identifier: LGPL-2.1-or-later
// Who processes are, for reports: what the kernel tells only with a lock of the process is read by threads.
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
    /// What is not known by then stays unknown: some process holds the lock of its memory and hangs. Microseconds.
    static constexpr std::uint64_t kPatience = 1'000'000;

    /// For one user's processes at once: while one of these hangs, the other goes on with the rest.
    static constexpr std::size_t kThreadsPerUser = 2;
    static constexpr std::size_t kThreadsOfUsers = 12; ///< for those of all users but root, whose are never held up by others'
    using Done = std::function<void(std::vector<ProcessInfo>)>;

    explicit Describer(CoreContext& context);
    ~Describer();

    /// Begins to read the command lines of processes that ProcessTable::read() has seen, and waits for nothing. `owner`: whose
    /// job they are of. `done` gets them in the same order, within kPatience; it may be called at once. Where the command line
    /// can't be had, it is "[name]". `done` is not called any more when the Describer is gone.
    void describe(uid_t owner, std::vector<ProcessInfo> processes, Done done);
    /// The same, and first with what they hang in (ProcessTable::readStuck), for which there is no time limit: it never hangs,
    /// and no command line is needed for it. What has ended meanwhile is as it was. False: too many wait for that, and `done`
    /// will not be called.
    [[nodiscard]] bool describeStuck(uid_t owner, std::vector<ProcessInfo> processes, Done done);

private:
    struct Reading;
    struct Batch;
    struct Request;
    /// Threads for a user's processes: no other user's wait for these.
    struct Share {
        std::size_t threads = 0;
        std::deque<std::shared_ptr<Request>> waiting; ///< once for each thread that it is to have
    };

    void serve();
    /// False: there is no thread for it now.
    bool begin(uid_t user, const std::shared_ptr<Request>& request);
    void finish(const std::shared_ptr<Request>& request);

    CoreContext& context_;
    std::map<uid_t, Share> shares_; ///< those that have or want threads
    std::size_t threadsOfUsers_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
    std::shared_ptr<Reading> reading_; ///< with the threads, which may outlive us
    std::set<std::shared_ptr<Request>> requests_;
};

} // namespace pinfold
