// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/descriptor_closer.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>

namespace pinfold {

/// Keeps others' descriptors away from libsystemd, which closes what a message has on the loop, also what the message does not
/// name. Whatever it receives on the bus's socket passes here first: pidfds go on, and each other descriptor is exchanged for a
/// stand-in that closes at once. The loop's thread alone uses this, and there is one of it in a process.
class ForeignDescriptors {
public:
    /// `busSocket` stays open, and `closer` alive, for as long as we and all that takeOver() returns.
    ForeignDescriptors(int busSocket, DescriptorCloser& closer);
    ~ForeignDescriptors();
    ForeignDescriptors(const ForeignDescriptors&) = delete;
    ForeignDescriptors& operator=(const ForeignDescriptors&) = delete;

    /// What has come since the last time is `owner`'s, and goes to the closer with the last copy of the result. Null: nothing
    /// has.
    std::shared_ptr<void> takeOver(uid_t owner);
    /// What `standIn`, a descriptor of a message, stands for. It can be had once. Empty: a pidfd, or what is closed already.
    ForeignFd behind(const ForeignFd& standIn);

private:
    using Originals = std::map<std::uint32_t, ForeignFd>; ///< by the number that their stand-ins hold

    DescriptorCloser& closer_;
    std::shared_ptr<Originals> originals_ = std::make_shared<Originals>();
};

} // namespace pinfold
