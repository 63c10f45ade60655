// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "os/descriptor_closer.hpp"

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>

namespace pinfold {

/// Keeps descriptors of other processes away from libsystemd. libsystemd closes all descriptors of a message in the thread of the
/// event loop, even descriptors that the message does not name. Closing a foreign descriptor can block. ForeignDescriptors
/// handles the descriptors of every message from the bus before libsystemd gets the message. ForeignDescriptors replaces every
/// descriptor that is not a pidfd by a stand-in. libsystemd can close a stand-in without waiting. Only the thread of the event
/// loop uses ForeignDescriptors, and a process has only one ForeignDescriptors object.
class ForeignDescriptors {
public:
    /// `busSocket` and `closer` must outlive the ForeignDescriptors object and all results of takeOver().
    ForeignDescriptors(int busSocket, DescriptorCloser& closer);
    ~ForeignDescriptors();
    ForeignDescriptors(const ForeignDescriptors&) = delete;
    ForeignDescriptors& operator=(const ForeignDescriptors&) = delete;

    /// Takes all descriptors that have come since the last call of takeOver(). The DescriptorCloser counts all taken descriptors
    /// as descriptors of the user `owner`. The caller must keep the returned pointer as long as the caller needs the descriptors.
    /// When the last copy of the returned pointer is destroyed, the DescriptorCloser closes the descriptors. Returns null if no
    /// descriptor has come.
    std::shared_ptr<void> takeOver(uid_t owner);
    /// Returns the original descriptor that ForeignDescriptors has replaced by `standIn`. A caller can take the original
    /// descriptor only once. The result is empty if `standIn` is a pidfd, or if the original descriptor is already closed.
    ForeignFd behind(const ForeignFd& standIn);

private:
    using Originals = std::map<std::uint32_t, ForeignFd>; ///< maps a stand-in's counter value to the replaced descriptor

    DescriptorCloser& closer_;
    std::shared_ptr<Originals> originals_ = std::make_shared<Originals>();
};

} // namespace pinfold
