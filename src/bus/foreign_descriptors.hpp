// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/descriptor_closer.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>

namespace pinfold {

/// Keeps descriptors of other processes away from libsystemd, which closes the descriptors of a message on the loop, also those
/// that the message does not name. What libsystemd receives on the bus's socket passes here first. Pidfds go on, and each other
/// descriptor is replaced by a stand-in that closes at once. Only the loop's thread uses this, and a process has only one such
/// object.
class ForeignDescriptors {
public:
    /// `busSocket` must stay open, and `closer` alive, as long as this object and all results of takeOver().
    ForeignDescriptors(int busSocket, DescriptorCloser& closer);
    ~ForeignDescriptors();
    ForeignDescriptors(const ForeignDescriptors&) = delete;
    ForeignDescriptors& operator=(const ForeignDescriptors&) = delete;

    /// The descriptors that have come since the last call are `owner`'s. They go to the closer with the last copy of the result.
    /// Null: none has come.
    std::shared_ptr<void> takeOver(uid_t owner);
    /// The descriptor for which `standIn`, a descriptor of a message, stands. It can be taken once. Empty: a pidfd, or the
    /// descriptor is closed already.
    ForeignFd behind(const ForeignFd& standIn);

private:
    using Originals = std::map<std::uint32_t, ForeignFd>; ///< the original descriptors, by the number that their stand-ins hold

    DescriptorCloser& closer_;
    std::shared_ptr<Originals> originals_ = std::make_shared<Originals>();
};

} // namespace pinfold
