// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/unique_fd.hpp"

#include <memory>
#include <string>

namespace pinfold {

/// A job's standard error, for the rare line that pinfoldd has to say there. A full pipe, a stopped terminal or a hung file
/// server may hold up whoever writes to it, and even who closes it (a network file system flushes then): neither is ever done by
/// the caller's thread, but for what can't hang.
class JobOutput {
public:
    /// Threads that hang at most, of all jobs together. What comes after that is not said.
    static constexpr int kMostThreads = 16;

    JobOutput() = default;
    explicit JobOutput(UniqueFd descriptor);

    explicit operator bool() const { return static_cast<bool>(descriptor_); }
    /// Begins to write the line. False: it will not be said, since too many others hang.
    bool say(const std::string& line) const;

private:
    struct Descriptor;
    std::shared_ptr<Descriptor> descriptor_;
};

} // namespace pinfold
