// SPDX-License-Identifier: LGPL-2.1-or-later
// The cgroup v2 tree below its mount point (Documentation/admin-guide/cgroup-v2.rst).
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

/// An open cgroup directory. It stays this cgroup, even when another cgroup gets the same name later.
class CgroupDir {
public:
    explicit CgroupDir(UniqueFd directory) : directory_(std::move(directory)) {}

    /// True: the cgroup, or one below it, has processes. False also when the cgroup is gone.
    bool populated() const;
    /// True: the cgroup was removed from the tree (or never existed).
    bool gone() const;
    /// All processes of this and the nested cgroups. Error: Internal when the list is incomplete.
    Result<std::vector<pid_t>> processes() const;
    /// All threads of this and the nested cgroups. Error: Internal when the list is incomplete.
    Result<std::vector<pid_t>> threads() const;
    /// Sends SIGKILL atomically to all processes, also of nested and frozen cgroups (cgroup.kill, Linux 5.14). Error: Internal.
    Result<void> kill() const;
    /// Begins to freeze all processes below (cgroup.freeze), or to thaw them. frozen() tells when this is done. Error: Internal.
    Result<void> freeze(bool on) const;
    /// Moves a process here (cgroup.procs). Errors: PidGone; Internal.
    Result<void> attach(pid_t pid) const;
    /// All figures that the cgroup counts.
    Usage usage() const;
    /// Figures of memory.events, which include nested cgroups. `events`: how often a limit here or below was hit. `kills`:
    /// processes that were killed, for whatever limit. Unset where memory is not counted.
    struct OomCount {
        std::optional<std::uint64_t> events;
        std::optional<std::uint64_t> kills;
    };
    OomCount oomCount() const;
    /// The present figures of CPU, memory, tasks and disks. This reads a third of the files that usage() reads.
    Usage briefUsage() const;
    /// The limits that the kernel enforces. Unset: no limit, or the controller is off.
    struct Bounds {
        std::optional<std::uint64_t> memoryMax; ///< bytes
        std::optional<double> cpus;             ///< CPUs that the cgroup can keep busy, by cpu.max and cpuset.cpus.effective
    };
    Bounds bounds() const;
    /// True: the whole cgroup is frozen (cgroup.events). Unset: the cgroup is gone.
    std::optional<bool> frozen() const;
    /// From now on each file stays open after it was read, which takes a descriptor for each file. Reading it again then takes 1
    /// to 3 us, not 10. Each call of this function looks again for files that did not exist, because controllers come to running
    /// jobs, too.
    void keepFilesOpen();
    static constexpr unsigned kMostFiles = 12; ///< descriptors that this may take
    /// Bytes of memory that the kernel cannot free without swap or a kill; nullopt where memory is not counted.
    std::optional<std::uint64_t> unreclaimableMemory() const;
    /// A file's text without the trailing line break; nullopt: the file does not exist, or the cgroup is gone.
    std::optional<std::string> read(const char* file) const;

private:
    std::optional<std::string> readKept(const char* file) const;

    UniqueFd directory_;
    mutable UniqueFd events_; ///< cgroup.events, which is read most often; the first question opens it
    bool keepsFiles_ = false;
    mutable std::map<std::string_view, UniqueFd> kept_;
};

class CgroupTree {
public:
    /// `root`: the prefix of /sys/fs/cgroup.
    explicit CgroupTree(const std::filesystem::path& root = "/");

    /// Success: a cgroup v2 hierarchy is mounted there. Error: Internal, with the remedy.
    Result<void> check() const;
    /// `path`: as in /proc/PID/cgroup. Error: Internal when the cgroup does not exist.
    Result<CgroupDir> open(std::string_view path) const;
    bool exists(std::string_view path) const;
    /// True: no process is in the cgroup or below it. False also when that cannot be read.
    bool isEmpty(std::string_view path) const;
    /// Names of the direct children. Empty when the cgroup does not exist.
    std::vector<std::string> children(std::string_view path) const;
    /// Removes an empty cgroup that systemd has forgotten. Error: Internal.
    Result<void> remove(std::string_view path) const;
    /// The path of the cgroup's cgroup.events, for inotify.
    std::filesystem::path eventsFile(std::string_view path) const;

private:
    std::filesystem::path absolute(std::string_view path) const;

    std::filesystem::path mount_;
    bool real_;
};

} // namespace pinfold
