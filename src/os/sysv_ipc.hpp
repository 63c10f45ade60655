// SPDX-License-Identifier: LGPL-2.1-or-later
// System V shared memory, semaphores and message queues of this IPC namespace (sysvipc(7), proc(5)).
#pragma once

#include "base/result.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <vector>

namespace pinfold {

enum class IpcKind { SharedMemory, Semaphores, Messages };

struct IpcObject {
    IpcKind kind = IpcKind::SharedMemory;
    int id = 0;
    std::int32_t key = 0; ///< 0: IPC_PRIVATE
    uid_t uid = 0;
    uid_t creator = 0;
    std::uint64_t size = 0;        ///< bytes of memory, bytes in the queue, or semaphores
    std::uint64_t attachments = 0; ///< of shared memory
    /// Creator and last users, as far as the kernel keeps them; of shared memory the creator is first. 0: a process that this pid
    /// namespace doesn't show. Those of semaphores: semaphoreUsers().
    std::vector<pid_t> pids;
    std::uint64_t changed = 0; ///< its creation, or a later change of its settings; seconds since 1970
    std::uint64_t used = 0;    ///< by a process, the last time; seconds since 1970, 0: never

    bool operator==(const IpcObject&) const = default;
};

/// `root` is prefixed to /proc. Error: Internal when a list can't be read or is not as proc(5) has it.
Result<std::vector<IpcObject>> listIpcObjects(const std::filesystem::path& root = "/");

/// Who used each of them last, as IpcObject::pids has it. Error: Internal.
Result<std::vector<pid_t>> semaphoreUsers(const IpcObject& semaphores);

/// Errors: Busy when it is attached, or no longer what it was when it was listed; Internal.
Result<void> removeIpcObject(const IpcObject& object);

} // namespace pinfold
