// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/per_user_limit.hpp"
#include "os/background.hpp"
#include "os/descriptor_closer.hpp"

#include <cstddef>
#include <string>

namespace pinfold {

/// Threads that write into what users have made. Those that hang are counted by user: nobody's can keep the others from being
/// told something.
class OutputWriters {
public:
    static constexpr std::size_t kThreadsPerUser = 4;
    static constexpr std::size_t kThreadsOfUsers = 12; ///< of all users but root, whose are never held up by others

    explicit OutputWriters(Background& background) : background_(background) {}

    /// Begins to write the text. False: it will not be written, since too many hang.
    bool write(ForeignFd descriptor, std::string text);

private:
    Background& background_;
    PerUserLimit writing_{kThreadsPerUser, kThreadsOfUsers};
};

/// A job's standard error, for the rare line that pinfoldd has to say there. A full pipe, a stopped terminal or a hung file
/// server may hold up whoever writes to it, and even who closes it (a network file system flushes then): neither is ever done by
/// the loop's thread.
class JobOutput {
public:
    JobOutput() = default;
    /// `writers` outlives us. `owner`: the job's, whoever has handed the descriptor over.
    JobOutput(OutputWriters& writers, uid_t owner, ForeignFd descriptor)
        : writers_(&writers), descriptor_(std::move(descriptor)) {
        descriptor_.belongsTo(owner);
    }

    explicit operator bool() const { return static_cast<bool>(descriptor_); }
    /// Begins to write the line. False: it will not be said, since too many others hang.
    bool say(const std::string& line) const;

private:
    OutputWriters* writers_ = nullptr;
    ForeignFd descriptor_;
};

} // namespace pinfold
