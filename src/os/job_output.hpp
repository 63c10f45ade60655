// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/per_user_limit.hpp"
#include "os/background.hpp"
#include "os/descriptor_closer.hpp"

#include <cstddef>
#include <string>

namespace pinfold {

/// Threads that write to files and pipes that users have made. Threads that hang are counted by user, so that no user can keep
/// messages from other users' jobs.
class OutputWriters {
public:
    static constexpr std::size_t kThreadsPerUser = 4;
    static constexpr std::size_t kThreadsOfUsers = 12; ///< for all users but root; root's lines never wait for others

    explicit OutputWriters(Background& background) : background_(background) {}

    /// Begins to write the text. False: the text will not be written, since too many threads hang.
    bool write(ForeignFd descriptor, std::string text);

private:
    Background& background_;
    PerUserLimit writing_{kThreadsPerUser, kThreadsOfUsers};
};

/// A job's standard error, for the rare line that pinfoldd has to say there. A full pipe, a stopped terminal or a hung file
/// server may block a write, and even a close (a network file system flushes then). So the loop's thread does neither.
class JobOutput {
public:
    JobOutput() = default;
    /// `writers` must outlive this object. `owner`: the job's owner, no matter who has handed the descriptor
    /// over.
    JobOutput(OutputWriters& writers, uid_t owner, ForeignFd descriptor)
        : writers_(&writers), descriptor_(std::move(descriptor)) {
        descriptor_.belongsTo(owner);
    }

    explicit operator bool() const { return static_cast<bool>(descriptor_); }
    /// Begins to write the line. False: the line will not be written, since too many threads hang.
    bool say(const std::string& line) const;

private:
    OutputWriters* writers_ = nullptr;
    ForeignFd descriptor_;
};

} // namespace pinfold
