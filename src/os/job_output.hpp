// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/background.hpp"
#include "os/descriptor_closer.hpp"

#include <string>

namespace pinfold {

/// A job's standard error, for the rare line that pinfoldd has to say there. A full pipe, a stopped terminal or a hung file
/// server may hold up whoever writes to it, and even who closes it (a network file system flushes then): neither is ever done by
/// the loop's thread.
class JobOutput {
public:
    JobOutput() = default;
    /// `background` outlives us.
    JobOutput(Background& background, ForeignFd descriptor) : background_(&background), descriptor_(std::move(descriptor)) {}

    explicit operator bool() const { return static_cast<bool>(descriptor_); }
    /// Begins to write the line. False: it will not be said, since too many others hang.
    bool say(const std::string& line) const;

private:
    Background* background_ = nullptr;
    ForeignFd descriptor_;
};

} // namespace pinfold
