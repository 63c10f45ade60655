// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"
#include "core/context.hpp"
#include "core/job.hpp"
#include "os/process.hpp"

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace pinfold {

/// Writes the leftovers of jobs into the journal. A user can have thousands of tasks that leave processes behind. The command
/// line of a leftover process can be a megabyte long. If LeftoverLog wrote too many entries about one user, journald would drop
/// entries of other users. LeftoverLog limits how many bytes it writes about the leftovers of each user. The limit does not apply
/// to root's jobs.
class LeftoverLog {
public:
    static constexpr Microseconds kStretch = 30s;
    /// The maximum number of bytes that LeftoverLog writes about one user's jobs in the time kStretch.
    static constexpr std::size_t kMostBytes = 1 << 20;

    explicit LeftoverLog(CoreContext& context) : context_(context) {}

    /// Calls logLeftovers(). say() leaves out a process if the journal entry about this process would exceed the user's limit
    /// kMostBytes. After the time kStretch, LeftoverLog writes to the journal how many processes say() has left out.
    void say(const Job& job, std::uint32_t task, std::uint64_t count, std::vector<ProcessInfo> named);

private:
    struct Share {
        BootTime began{}; ///< the time at which LeftoverLog began to count `bytes`
        std::size_t bytes = 0;
        std::uint64_t unsaid = 0; ///< the number of processes that say() has left out
        /// The timer expires when the time kStretch has passed after `began`. LeftoverLog sets the timer only if it has left out
        /// processes.
        EventHandle end;
    };

    Share& shareOf(uid_t user);
    void leaveOut(uid_t user, Share& share, std::uint64_t processes);

    CoreContext& context_;
    std::map<uid_t, Share> shares_;
};

} // namespace pinfold
