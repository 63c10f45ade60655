// SPDX-License-Identifier: LGPL-2.1-or-later
// /proc and pidfds. A process is a pidfd; a pid is a hint that is checked before and after use.
#pragma once

#include "base/result.hpp"
#include "base/unique_fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// One process as /proc/PID/{stat,status,cmdline} show it (proc(5)).
struct ProcessInfo {
    pid_t pid = 0;
    uid_t realUid = 0;
    uid_t effectiveUid = 0;
    uid_t savedUid = 0;
    std::vector<gid_t> groups; ///< real and supplementary
    bool kernelThread = false;
    bool thread = false; ///< of a process, and not its first one: /proc shows them by number, too
    char state = '?';
    std::uint64_t started = 0; ///< microseconds after boot (CLOCK_BOOTTIME), to the clock tick
    std::uint64_t cpu = 0;     ///< microseconds, user and system
    std::uint64_t rss = 0;     ///< bytes
    pid_t parent = 0;
    std::uint32_t terminal = 0;           ///< device number of the controlling terminal, as in st_rdev; 0: none
    std::optional<std::string> waitPoint; ///< kernel function that it sleeps in; unset: runs, not asked for, or not to be seen
    bool ownNamespace = false; ///< is in another user namespace than this process; only where the wait point was asked for
    std::string command;       ///< printable(); "[name]" when the command line is empty or was not asked for
};

/// May be used by several threads at once. commandOf() and readWithCommand() may block, for as long as somebody holds the lock of
/// the process's memory (mmap_lock): a process that hangs on a file server does. They are no calls for the loop. All others ask
/// for what the kernel has at hand.
class ProcessTable {
public:
    /// `root` is prefixed to /proc, except for this process's own descriptors.
    explicit ProcessTable(std::filesystem::path root = "/") : root_(std::move(root)) {}

    /// The process that a pidfd stands for, from /proc/self/fdinfo.
    /// Errors: PidGone when it has ended; InvalidArgument when the descriptor is no pidfd, or one of a single thread.
    Result<pid_t> pidOf(int pidfd) const;

    /// The cgroup v2 path, "/batch.slice/…"; " (deleted)" is cut off. Errors: PidGone; Internal when it can't be read.
    Result<std::string> cgroupOf(pid_t pid) const;
    /// The same of one of its threads. They can differ only if the process's first thread has ended.
    Result<std::string> cgroupOfThread(pid_t pid, pid_t thread) const;
    /// Whose thread this is. Errors: PidGone; Internal.
    Result<pid_t> processOf(pid_t thread) const;
    /// The thread that traces this one (ptrace(2)); 0: none does. Errors: PidGone; Internal.
    Result<pid_t> tracerOf(pid_t thread) const;
    /// Those that are there now. Error: PidGone.
    Result<std::vector<pid_t>> threadsOf(pid_t pid) const;

    /// Where a process is that read() has seen. If its first thread has ended and others go on, the kernel says of the process
    /// where that thread was: this is where a thread of it is that goes on. Errors: as cgroupOf().
    Result<std::string> cgroupOf(const ProcessInfo& info) const;

    /// All there are, of this pid namespace. Error: Internal when the list is incomplete.
    Result<std::vector<pid_t>> pids() const;

    /// Nothing is hidden from this process. Error: Internal, with the remedy, where /proc is mounted so that it is.
    Result<void> showsAll() const;

    /// Without the command line. Errors: PidGone; Internal when it can't be read or parsed.
    Result<ProcessInfo> read(pid_t pid) const;
    /// May block.
    Result<ProcessInfo> readWithCommand(pid_t pid) const;
    /// May block. printable(); what `info.command` says already where there is none, or it can't be read.
    std::string commandOf(const ProcessInfo& info) const;
    /// Without the command line, with state and wait point of a thread that can't be interrupted, if there is one; of several, of
    /// one that waits for a file server. Where there is none, those of the process's tracer if that has such a thread. The wait
    /// point of other users' processes and their namespaces are seen with CAP_SYS_PTRACE only. It looks at each thread, and there
    /// may be thousands.
    Result<ProcessInfo> readStuck(pid_t pid) const;

private:
    /// Of /proc/PID.
    std::optional<std::string> file(pid_t pid, const char* name) const;
    Result<std::string> cgroupIn(pid_t pid, const char* name) const;
    /// Of /proc/PID/status.
    Result<pid_t> pidIn(pid_t thread, std::string_view line) const;

    std::filesystem::path root_;
};

/// ProcessInfo::state of a process whose first thread has ended, as long as other threads have not.
inline constexpr char kZombie = 'Z';

/// The kernel's function is one in which a process waits for a file server in FUSE.
bool isInFuse(std::string_view waitPoint);
/// For people: how to end such a wait.
constexpr std::string_view kAbortFuse =
    "it waits for a FUSE file server that its user runs: `echo 1 >/sys/fs/fuse/connections/N/abort` "
    "ends that, where N/waiting is not 0";

/// pidfd_open(2). Errors: PidGone, also where the number is a thread's by now; Internal.
Result<UniqueFd> openPidfd(pid_t pid);

/// pidfd_send_signal(2). To a process that may have ended, which is no error. Error: Internal, also where it is not permitted.
Result<void> sendSignalTo(int pidfd, int signal);

/// True once the process has ended, which is when its last thread has (reference: pidfd_open(2)).
bool hasEnded(int pidfd);

} // namespace pinfold
