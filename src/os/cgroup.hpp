// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads and changes the cgroup v2 tree below its mount point (Documentation/admin-guide/cgroup-v2.rst).
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "model/usage.hpp"

#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Represents an open cgroup directory. A CgroupDir always refers to the same cgroup, even if a new cgroup gets the name of a
/// removed one.
class CgroupDir {
public:
    explicit CgroupDir(UniqueFd directory) : directory_(std::move(directory)) {}

    /// Returns true if the cgroup, or a cgroup below it, has processes. If the cgroup no longer exists, the result is false.
    bool populated() const;
    /// Returns true if the cgroup was removed from the tree (or never existed).
    bool gone() const;
    /// Returns all processes in this cgroup and in the nested cgroups. Fails with Internal if pinfold cannot read the complete
    /// list of processes.
    Result<std::vector<pid_t>> processes() const;
    /// Returns all threads in this cgroup and in the nested cgroups. Fails with Internal if pinfold cannot read the complete list
    /// of threads.
    Result<std::vector<pid_t>> threads() const;
    /// Sends SIGKILL atomically to all processes of the cgroup and of the nested cgroups (cgroup.kill, Linux 5.14). kill() works
    /// even if the cgroups are frozen. Error: Internal.
    Result<void> kill() const;
    /// Begins to freeze or to thaw all processes in this cgroup and in the nested cgroups (cgroup.freeze). Call frozen() to find
    /// out whether the freeze or thaw is done. Error: Internal.
    Result<void> freeze(bool on) const;
    /// Moves a process into this cgroup (cgroup.procs). Errors: PidGone; Internal.
    Result<void> attach(pid_t pid) const;
    /// Reads all resource counters of the cgroup.
    Usage usage() const;
    /// Holds counters from the file memory.events. The counters of a cgroup include the events in its nested cgroups. `events`
    /// says how many times this cgroup or a nested cgroup reached a memory limit. `kills` counts the processes that the kernel's
    /// OOM killer killed, whichever limit was reached. `events` and `kills` are unset if the kernel does not count memory.
    struct OomCount {
        std::optional<std::uint64_t> events;
        std::optional<std::uint64_t> kills;
    };
    OomCount oomCount() const;
    /// Reads the cgroup's current use of CPU, memory, tasks and disks. The function briefUsage() reads only a third of the files
    /// that usage() reads.
    Usage briefUsage() const;
    /// Reads the figures of a profile (model/profile_recorder.hpp). A profile contains the CPU time, the number of tasks, the sum
    /// of all I/O, and the memory pressure. The memory figures of a profile are the anonymous memory, the shared memory and the
    /// page cache.
    Usage profileUsage() const;
    /// Reads the two figures that a receipt contains for each task: the CPU time and the memory peak.
    Usage taskUsage() const;
    /// Holds limits that the kernel enforces. A member of Bounds is unset if the kernel does not limit the resource, for example
    /// because the cgroup controller is off.
    struct Bounds {
        std::optional<std::uint64_t> memoryMax; ///< the limit in bytes
        std::optional<double> cpus;             ///< how many CPUs the cgroup can keep busy (cpu.max, cpuset.cpus.effective)
    };
    Bounds bounds() const;
    /// Says whether the whole cgroup is frozen (cgroup.events). Returns nullopt if the cgroup is gone.
    std::optional<bool> frozen() const;
    /// Keeps the cgroup's files open, so that pinfoldd reads them faster. Each open file occupies a descriptor. pinfoldd needs 1
    /// to 3 us to read an open file, and 10 us to open and read a file. Each call of keepFilesOpen() looks again for missing
    /// files. If a file of the cgroup is missing, the kernel creates the file when systemd enables the controller for the running
    /// job.
    void keepFilesOpen();
    static constexpr unsigned kMostFiles = 12; ///< the maximum number of descriptors that keepFilesOpen() uses
    /// Returns how many bytes of memory the kernel can free only by swapping or by killing a process. Returns nullopt if the
    /// kernel does not count memory.
    std::optional<std::uint64_t> unreclaimableMemory() const;
    /// Returns the file's text without the trailing line break. Returns nullopt if the file does not exist or the cgroup is gone.
    std::optional<std::string> read(const char* file) const;

private:
    Usage cpuUsage() const;
    Usage commonUsage() const; ///< the figures that briefUsage() and profileUsage() have in common
    std::optional<std::string> readKept(const char* file) const;

    UniqueFd directory_;
    mutable UniqueFd events_; ///< the file cgroup.events, which populated() opens once and reads often
    bool keepsFiles_ = false;
    mutable std::map<std::string_view, UniqueFd> kept_;
};

class CgroupTree {
public:
    /// The argument `root` is the directory that contains /sys/fs/cgroup.
    explicit CgroupTree(const std::filesystem::path& root = "/");

    /// Succeeds if a cgroup v2 hierarchy is mounted at /sys/fs/cgroup. The message of the error Internal tells the administrator
    /// how to mount cgroup v2.
    Result<void> check() const;
    /// Opens the cgroup with the path `path`. `path` has the same form as a path in /proc/PID/cgroup. Fails with Internal if the
    /// cgroup does not exist.
    Result<CgroupDir> open(std::string_view path) const;
    bool exists(std::string_view path) const;
    /// Returns true if no process is in the cgroup or below it. If pinfold cannot find out whether the cgroup has processes, the
    /// result is false.
    bool isEmpty(std::string_view path) const;
    /// Returns the names of the cgroup's direct children, or an empty list if the cgroup does not exist.
    std::vector<std::string> children(std::string_view path) const;
    /// Removes a cgroup without processes. Call remove() only if systemd no longer has a unit for the cgroup. Error: Internal.
    Result<void> remove(std::string_view path) const;
    /// Returns the path of the cgroup's file cgroup.events, for inotify.
    std::filesystem::path eventsFile(std::string_view path) const;

private:
    std::filesystem::path absolute(std::string_view path) const;

    std::filesystem::path mount_;
    bool real_;
};

} // namespace pinfold
