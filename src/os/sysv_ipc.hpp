// SPDX-License-Identifier: LGPL-2.1-or-later
// Lists and removes System V shared memory, semaphores and message queues of this IPC namespace (sysvipc(7), proc(5)).
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
    std::int32_t key = 0; ///< the key of the object; 0 means IPC_PRIVATE
    uid_t uid = 0;
    uid_t creator = 0;
    std::uint64_t size = 0;        ///< the bytes in the shared memory or in the message queue, or the number of semaphores
    std::uint64_t attachments = 0; ///< the present number of attachments of the shared memory (shmat(2))
    /// Lists the processes that created or last used the object, if the kernel has stored their process ids. For shared memory,
    /// `pids` begins with the process that created the object. If a process is not visible in this pid namespace, its number in
    /// `pids` is 0. For semaphores see semaphoreUsers().
    std::vector<pid_t> pids;
    /// The time of the object's creation, or of the last change of its settings, in seconds since 1970.
    std::uint64_t changed = 0;
    /// The time at which a process last used the object, in seconds since 1970. `used` is 0 if no process has used the object.
    std::uint64_t used = 0;

    bool operator==(const IpcObject&) const = default;
};

/// Lists the objects. The directory `root` contains "proc", and is "/" except in tests. Fails with Internal if a table in
/// /proc/sysvipc cannot be read or does not have the format of proc(5).
Result<std::vector<IpcObject>> listIpcObjects(const std::filesystem::path& root = "/");

/// Returns a list with one process for each semaphore: the process that used the semaphore last. A process id is 0 if the process
/// is not visible in this pid namespace. Error: Internal.
Result<std::vector<pid_t>> semaphoreUsers(const IpcObject& semaphores);

/// Removes the object. Fails with Busy if a process has attached the object, or if the object has changed since it was listed.
/// removeIpcObject() reports every failure except Busy as Internal.
Result<void> removeIpcObject(const IpcObject& object);

} // namespace pinfold
