// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/sysv_ipc.hpp"

#include "os/read_file.hpp"

#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

namespace pinfold {
namespace {

// The maximum size of a table in /proc/sysvipc. The table for each kind of object has at most 32768 lines of at most 200 bytes.
constexpr std::size_t kMostBytes = 64 << 20;

struct Table {
    IpcKind kind;
    const char* file;
    const char* id;
    const char* size;
    /// Each pair names two columns. The first column contains the id of a process. The second column contains the time at which
    /// the process created or used the object. If the time in the second column is 0, the process id in the first column is not
    /// valid.
    std::vector<std::pair<const char*, const char*>> pids;
    std::vector<const char*> used;
};

const std::array<Table, 3>& tables() {
    static const std::array<Table, 3> all{
        Table{IpcKind::SharedMemory, "shm", "shmid", "size", {{"cpid", "ctime"}, {"lpid", "atime"}}, {"atime", "dtime"}},
        Table{IpcKind::Semaphores, "sem", "semid", "nsems", {}, {"otime"}},
        Table{IpcKind::Messages, "msg", "msqid", "cbytes", {{"lspid", "stime"}, {"lrpid", "rtime"}}, {"stime", "rtime"}},
    };
    return all;
}

using Row = std::map<std::string, std::int64_t, std::less<>>;

/// Reads a line of a table in /proc/sysvipc. readRow() finds a column by the name in the table's first line, because the position
/// of the column depends on the kernel's version. Returns nullopt if a field is not a number or is missing.
std::optional<Row> readRow(const std::vector<std::string>& names, const std::string& line) {
    std::istringstream words(line);
    Row row;
    for (const auto& name : names)
        if (!(words >> row[name]))
            return std::nullopt;
    return row;
}

IpcObject toObject(const Table& table, const Row& row) {
    const auto at = [&row](const char* name) { return static_cast<std::uint64_t>(row.find(name)->second); };
    IpcObject object;
    object.kind = table.kind;
    object.id = static_cast<int>(at(table.id));
    object.key = static_cast<std::int32_t>(at("key"));
    object.uid = static_cast<uid_t>(at("uid"));
    object.creator = static_cast<uid_t>(at("cuid"));
    object.size = at(table.size);
    object.changed = at("ctime");
    if (table.kind == IpcKind::SharedMemory)
        object.attachments = at("nattch");
    for (const auto& [name, when] : table.pids)
        if (at(when) > 0)
            object.pids.push_back(static_cast<pid_t>(at(name)));
    for (const auto* name : table.used)
        object.used = std::max(object.used, at(name));
    return object;
}

bool hasAll(const Table& table, const std::vector<std::string>& names) {
    std::vector<std::string> wanted{"key", table.id, table.size, "uid", "cuid", "ctime"};
    for (const auto& [name, when] : table.pids)
        wanted.insert(wanted.end(), {name, when});
    wanted.insert(wanted.end(), table.used.begin(), table.used.end());
    if (table.kind == IpcKind::SharedMemory)
        wanted.emplace_back("nattch");
    return std::all_of(wanted.begin(), wanted.end(),
                       [&names](const auto& name) { return std::find(names.begin(), names.end(), name) != names.end(); });
}

Result<void> listKind(const std::filesystem::path& root, const Table& table, std::vector<IpcObject>& objects) {
    const auto file = root / "proc/sysvipc" / table.file;
    const auto text = readFile(AT_FDCWD, file.c_str(), kMostBytes);
    if (!text && errno == ENOENT) // a kernel without System V IPC does not have the file
        return {};
    if (!text)
        return Error{ErrorCode::Internal, file.string() + ": " + std::strerror(errno)};
    std::istringstream lines(*text);
    std::string line;
    std::getline(lines, line);
    std::istringstream header(line);
    std::vector<std::string> names;
    for (std::string name; header >> name;)
        names.push_back(name);
    if (!hasAll(table, names) || text->size() >= kMostBytes)
        return Error{ErrorCode::Internal, file.string() + " does not have the form that proc(5) describes"};
    while (std::getline(lines, line)) {
        const auto row = readRow(names, line);
        if (!row)
            return Error{ErrorCode::Internal, file.string() + " does not have the form that proc(5) describes"};
        objects.push_back(toObject(table, *row));
    }
    return {};
}

/// The headers of glibc do not declare the union that semctl(2) needs.
union SemaphoreArgument {
    int value;
    semid_ds* status;
};

/// Returns true if the object in the kernel still has the key, owner, creator and time of change that `object` contains. The
/// kernel reuses the id of a removed object only after 32768 later objects have used the removed object's slot.
bool isStill(const IpcObject& object, const ipc_perm& now, std::int64_t changed) {
    return now.__key == object.key && now.uid == object.uid && now.cuid == object.creator &&
           static_cast<std::uint64_t>(changed) == object.changed;
}

Error failed(const IpcObject& object, const char* what) {
    return {ErrorCode::Internal, std::string(what) + " of IPC object " + std::to_string(object.id) + ": " + std::strerror(errno)};
}

Error changedMeanwhile() { return {ErrorCode::Busy, "it has changed since it was listed"}; }

/// Sets the effective user id of the calling thread, and of no other thread. setEffectiveUid() does not call seteuid(3), because
/// seteuid(3) changes the user id of all threads. If one of the threads hung, seteuid(3) would hang, too.
bool setEffectiveUid(uid_t uid) { return ::syscall(SYS_setresuid, -1, uid, -1) == 0; }

/// Removes the object with the rights of the object's owner. Only the owner and the creator may remove an object. To remove the
/// object as root, the process would need CAP_SYS_ADMIN.
template <class F> Result<void> removeAsOwner(const IpcObject& object, F&& remove) {
    const auto before = ::geteuid();
    if (!setEffectiveUid(object.uid))
        return failed(object, "seteuid to the owner");
    auto removed = remove() == 0 ? Result<void>() : failed(object, "IPC_RMID");
    if (!setEffectiveUid(before)) // `before` is the saved user id, so the kernel permits the change back to `before`
        return failed(object, "seteuid back");
    return removed;
}

Result<void> removeSharedMemory(const IpcObject& object) {
    shmid_ds now{};
    if (::shmctl(object.id, IPC_STAT, &now) != 0)
        return failed(object, "IPC_STAT");
    if (!isStill(object, now.shm_perm, now.shm_ctime))
        return changedMeanwhile();
    if (now.shm_nattch > 0)
        return Error{ErrorCode::Busy, "it is attached to a process"};
    return removeAsOwner(object, [&] { return ::shmctl(object.id, IPC_RMID, nullptr); });
}

Result<void> removeSemaphores(const IpcObject& object) {
    semid_ds now{};
    SemaphoreArgument argument{};
    argument.status = &now;
    if (::semctl(object.id, 0, IPC_STAT, argument) != 0)
        return failed(object, "IPC_STAT");
    if (!isStill(object, now.sem_perm, now.sem_ctime) || static_cast<std::uint64_t>(now.sem_otime) != object.used)
        return changedMeanwhile();
    return removeAsOwner(object, [&] { return ::semctl(object.id, 0, IPC_RMID); });
}

Result<void> removeQueue(const IpcObject& object) {
    msqid_ds now{};
    if (::msgctl(object.id, IPC_STAT, &now) != 0)
        return failed(object, "IPC_STAT");
    const auto used = static_cast<std::uint64_t>(std::max(now.msg_stime, now.msg_rtime));
    if (!isStill(object, now.msg_perm, now.msg_ctime) || used != object.used)
        return changedMeanwhile();
    return removeAsOwner(object, [&] { return ::msgctl(object.id, IPC_RMID, nullptr); });
}

} // namespace

Result<std::vector<IpcObject>> listIpcObjects(const std::filesystem::path& root) {
    std::vector<IpcObject> objects;
    for (const auto& table : tables())
        if (auto listed = listKind(root, table, objects); !listed)
            return listed.error();
    return objects;
}

Result<std::vector<pid_t>> semaphoreUsers(const IpcObject& semaphores) {
    std::vector<pid_t> pids;
    for (int number = 0; static_cast<std::uint64_t>(number) < semaphores.size; ++number) {
        const auto pid = ::semctl(semaphores.id, number, GETPID);
        if (pid < 0)
            return failed(semaphores, "GETPID");
        if (pid > 0 && std::find(pids.begin(), pids.end(), pid) == pids.end())
            pids.push_back(pid);
    }
    if (pids.empty() && semaphores.used > 0)
        pids.push_back(0);
    return pids;
}

Result<void> removeIpcObject(const IpcObject& object) {
    switch (object.kind) {
    case IpcKind::SharedMemory:
        return removeSharedMemory(object);
    case IpcKind::Semaphores:
        return removeSemaphores(object);
    case IpcKind::Messages:
        return removeQueue(object);
    }
    return changedMeanwhile();
}

} // namespace pinfold
