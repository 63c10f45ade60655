// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/descriptor_closer.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>

namespace pinfold {

/// Keeps descriptors of other processes away from libsystemd. libsystemd closes all descriptors of a message on the loop, even
/// those that the message does not name. So every message from the bus's socket passes ForeignDescriptors first.
/// ForeignDescriptors lets pidfds pass, and replaces each other descriptor by a stand-in that closes at once. Only the loop's
/// thread uses a ForeignDescriptors, and a process has only one.
class ForeignDescriptors {
public:
    /// `busSocket` must stay open, and `closer` must live, as long as the ForeignDescriptors and all results of takeOver() live.
    ForeignDescriptors(int busSocket, DescriptorCloser& closer);
    ~ForeignDescriptors();
    ForeignDescriptors(const ForeignDescriptors&) = delete;
    ForeignDescriptors& operator=(const ForeignDescriptors&) = delete;

    /// Says that the descriptors that have come since the last call belong to `owner`. When the last copy of the result is gone,
    /// the descriptors go to the closer. Returns null if no descriptor has come.
    std::shared_ptr<void> takeOver(uid_t owner);
    /// Returns the original descriptor in place of which a message has the descriptor `standIn`. A caller can take the original
    /// once. The result is empty if `standIn` is a pidfd, or if the original is closed already.
    ForeignFd behind(const ForeignFd& standIn);

private:
    using Originals = std::map<std::uint32_t, ForeignFd>; ///< the original descriptors, by the number in the stand-in

    DescriptorCloser& closer_;
    std::shared_ptr<Originals> originals_ = std::make_shared<Originals>();
};

} // namespace pinfold
