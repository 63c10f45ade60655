// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/descriptor_closer.hpp"
#include "os/event_loop.hpp"

#include <sys/types.h>

#include <memory>

struct sd_bus_message;

namespace pinfold {

/// Keeps copies of the descriptors that come with a message. libsystemd and sdbus-c++ close theirs on the loop, which takes no
/// time as long as theirs is not the last one; the last one is ours, and a DescriptorCloser's matter.
class DescriptorKeeper {
public:
    /// Both outlive us and all that keep() returns.
    DescriptorKeeper(EventLoop& loop, DescriptorCloser& closer);

    /// `owner`: who sent the message. What is returned is to be held for as long as anything of the message is; null: there is
    /// nothing to keep. Reads the message from its beginning, and leaves it there.
    std::shared_ptr<void> keep(sd_bus_message* message, uid_t owner);

private:
    struct Due;
    struct Kept;

    DescriptorCloser& closer_;
    std::shared_ptr<Due> due_;
};

} // namespace pinfold
