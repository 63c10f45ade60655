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

/// An open cgroup directory. It stays this cgroup when another one of the same name comes after it.
class CgroupDir {
public:
    explicit CgroupDir(UniqueFd directory) : directory_(std::move(directory)) {}

    /// False too once the cgroup is gone.
    bool populated() const;
    /// Removed from the tree (or never there).
    bool gone() const;
    /// All processes, of nested cgroups too. Error: Internal when the list is incomplete.
    Result<std::vector<pid_t>> processes() const;
    /// All threads, of nested cgroups too. Error: Internal when the list is incomplete.
    Result<std::vector<pid_t>> threads() const;
    /// SIGKILL to all, atomically, of nested and frozen cgroups too (cgroup.kill, Linux 5.14). Error: Internal.
    Result<void> kill() const;
    /// Begins to hold all processes below still (cgroup.freeze), or lets them go: frozen() tells when it is done. Error:
    /// Internal.
    Result<void> freeze(bool on) const;
    /// Moves a process here (cgroup.procs). Errors: PidGone; Internal.
    Result<void> attach(pid_t pid) const;
    /// Everything that is counted.
    Usage usage() const;
    /// memory.events, of nested cgroups too: `events` counts limits that were hit here or below, `kills` processes killed for
    /// whatever limit. Unset where memory isn't counted.
    struct OomCount {
        std::optional<std::uint64_t> events;
        std::optional<std::uint64_t> kills;
    };
    OomCount oomCount() const;
    /// CPU, memory, tasks and disks of this moment: a third of the files.
    Usage briefUsage() const;
    /// What the kernel holds it to. Unset: no limit, or the controller is off.
    struct Bounds {
        std::optional<std::uint64_t> memoryMax; ///< bytes
        std::optional<double> cpus;             ///< CPUs that it can keep busy: by cpu.max, and by cpuset.cpus.effective
    };
    Bounds bounds() const;
    /// All of it is frozen (cgroup.events). Unset once the cgroup is gone.
    std::optional<bool> frozen() const;
    /// From now on a file that was read stays open, for a descriptor a file: reading it again takes 1 to 3 us then, not 10.
    /// One that was not there is looked for again with the next call of this: controllers come to running jobs too.
    void keepFilesOpen();
    static constexpr unsigned kMostFiles = 12; ///< descriptors that it may take by then
    /// Bytes that can't go away without swap or a kill; nullopt where memory isn't counted.
    std::optional<std::uint64_t> unreclaimableMemory() const;
    /// A file's text without the trailing line break; nullopt when it is not there or the cgroup is gone.
    std::optional<std::string> read(const char* file) const;

private:
    std::optional<std::string> readKept(const char* file) const;

    UniqueFd directory_;
    mutable UniqueFd events_; ///< cgroup.events, asked for most often: opened with the first question
    bool keepsFiles_ = false;
    mutable std::map<std::string_view, UniqueFd> kept_;
};

class CgroupTree {
public:
    /// `root` is prefixed to /sys/fs/cgroup.
    explicit CgroupTree(const std::filesystem::path& root = "/");

    /// Error: Internal, with the remedy, when no cgroup v2 hierarchy is mounted there.
    Result<void> check() const;
    /// `path` as in /proc/PID/cgroup. Error: Internal when it is not there.
    Result<CgroupDir> open(std::string_view path) const;
    bool exists(std::string_view path) const;
    /// No process is in it or below. False also when that cannot be read.
    bool isEmpty(std::string_view path) const;
    /// Names of the direct children. Empty when the cgroup is not there.
    std::vector<std::string> children(std::string_view path) const;
    /// Removes an empty cgroup that systemd forgot. Error: Internal.
    Result<void> remove(std::string_view path) const;
    /// For inotify.
    std::filesystem::path eventsFile(std::string_view path) const;

private:
    std::filesystem::path absolute(std::string_view path) const;

    std::filesystem::path mount_;
    bool real_;
};

} // namespace pinfold
