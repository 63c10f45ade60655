// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/per_user_limit.hpp"
#include "os/background.hpp"
#include "os/descriptor_closer.hpp"

#include <cstddef>
#include <string>

namespace pinfold {

/// Uses threads to write to files and pipes that users have made. OutputWriters limits how many threads hang at the same time
/// while they write to files and pipes of one user. If the files or pipes of one user hang, pinfoldd can still write messages to
/// the jobs of other users.
class OutputWriters {
public:
    static constexpr std::size_t kThreadsPerUser = 4;
    /// At most kThreadsOfUsers threads write for users other than root at the same time. Lines for root's jobs never wait for
    /// lines for other users' jobs.
    static constexpr std::size_t kThreadsOfUsers = 12;

    explicit OutputWriters(Background& background) : background_(background) {}

    /// Begins to write the text. If too many threads hang, write() returns false and drops the text.
    bool write(ForeignFd descriptor, std::string text);

private:
    Background& background_;
    PerUserLimit writing_{kThreadsPerUser, kThreadsOfUsers};
};

/// Holds the descriptor of a job's standard error. pinfoldd seldom writes a line to a job's standard error. A full pipe, a
/// stopped terminal or a hung file server can block a write. Even close(2) can block, because a network file system flushes the
/// file during close(2). The event loop's thread neither writes to a job's output nor closes the output, because write(2) and
/// close(2) can block.
class JobOutput {
public:
    JobOutput() = default;
    /// `writers` must outlive the JobOutput. `owner` is the job's owner, even if another user passed the descriptor to
    /// pinfoldd.
    JobOutput(OutputWriters& writers, uid_t owner, ForeignFd descriptor)
        : writers_(&writers), descriptor_(std::move(descriptor)) {
        descriptor_.belongsTo(owner);
    }

    explicit operator bool() const { return static_cast<bool>(descriptor_); }
    /// Begins to write the line. If too many threads hang, say() returns false and drops the line.
    bool say(const std::string& line) const;

private:
    OutputWriters* writers_ = nullptr;
    ForeignFd descriptor_;
};

} // namespace pinfold
