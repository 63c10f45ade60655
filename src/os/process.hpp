// SPDX-License-Identifier: LGPL-2.1-or-later
// Processes, by /proc and pidfds. A process is a pidfd. A pid is a hint that is checked before and after use.
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
    bool thread = false; ///< it is not a process but a thread other than a process's first one, which /proc shows by number, too
    char state = '?';
    std::uint64_t started = 0; ///< microseconds after boot (CLOCK_BOOTTIME), to the clock tick
    std::uint64_t cpu = 0;     ///< microseconds, user and system
    std::uint64_t rss = 0;     ///< bytes
    pid_t parent = 0;
    std::uint32_t terminal = 0; ///< device number of the controlling terminal, as in st_rdev; 0: none
    /// Kernel function in which it sleeps; unset: it runs, or this was not asked for or cannot be seen.
    std::optional<std::string> waitPoint;
    bool ownNamespace = false; ///< it is in another user namespace than this process; only set if the wait point was asked for
    std::string command;       ///< printable(); "[name]" when the command line is empty or was not asked for
};

/// Several threads may use this at once. commandOf() and readWithCommand() may block for as long as somebody holds the lock of
/// the process's memory (mmap_lock), as a process does that hangs on a file server. So the loop must not call them. All other
/// functions ask for what the kernel has at hand.
class ProcessTable {
public:
    /// `root`: the prefix of /proc, except for this process's own descriptors.
    explicit ProcessTable(std::filesystem::path root = "/") : root_(std::move(root)) {}

    /// The process that a pidfd stands for, from /proc/self/fdinfo.
    /// Errors: PidGone when the process has ended; InvalidArgument when the descriptor is not a pidfd, or is one of a single
    /// thread.
    Result<pid_t> pidOf(int pidfd) const;

    /// The cgroup v2 path of a process, "/batch.slice/…", without " (deleted)". Errors: PidGone; Internal when it cannot be read.
    Result<std::string> cgroupOf(pid_t pid) const;
    /// The cgroup v2 path of one thread of a process. It can differ from the process's only if the process's first thread has
    /// ended.
    Result<std::string> cgroupOfThread(pid_t pid, pid_t thread) const;
    /// The process to which this thread belongs. Errors: PidGone; Internal.
    Result<pid_t> processOf(pid_t thread) const;
    /// The thread that traces this thread (ptrace(2)); 0: no thread does. Errors: PidGone; Internal.
    Result<pid_t> tracerOf(pid_t thread) const;
    /// The present threads of a process. Error: PidGone.
    Result<std::vector<pid_t>> threadsOf(pid_t pid) const;

    /// The cgroup of a process that read() has seen. If its first thread has ended and others go on, the kernel gives the process
    /// the cgroup in which the first thread was. This function then gives the cgroup of a thread that goes on. Errors: as
    /// cgroupOf(pid).
    Result<std::string> cgroupOf(const ProcessInfo& info) const;

    /// All processes of this pid namespace. Error: Internal when the list is incomplete.
    Result<std::vector<pid_t>> pids() const;

    /// Success: /proc hides nothing from this process. Error: Internal, with the remedy, if /proc is mounted in a way that hides
    /// processes.
    Result<void> showsAll() const;

    /// Reads a process without its command line. Errors: PidGone; Internal when it cannot be read or parsed.
    Result<ProcessInfo> read(pid_t pid) const;
    /// Reads a process with its command line. May block.
    Result<ProcessInfo> readWithCommand(pid_t pid) const;
    /// The process's command line, printable(). If there is none, or it cannot be read, the result is `info.command`. May block.
    std::string commandOf(const ProcessInfo& info) const;
    /// Reads a process without its command line, but with state and wait point of a thread that cannot be interrupted, if there
    /// is one; if there are several, of one that waits for a file server. If there is none, those of the process's tracer, if the
    /// tracer has such a thread. Only CAP_SYS_PTRACE shows the wait points and namespaces of other users' processes. This looks
    /// at each thread, and there may be thousands.
    Result<ProcessInfo> readStuck(pid_t pid) const;

private:
    /// The text of a file of /proc/PID.
    std::optional<std::string> file(pid_t pid, const char* name) const;
    Result<std::string> cgroupIn(pid_t pid, const char* name) const;
    /// The number in the line of this name of /proc/PID/status.
    Result<pid_t> pidIn(pid_t thread, std::string_view line) const;

    std::filesystem::path root_;
};

/// ProcessInfo::state of a process whose first thread has ended, as long as other threads have not.
inline constexpr char kZombie = 'Z';

/// True: in this kernel function a process waits for a file server in FUSE.
bool isInFuse(std::string_view waitPoint);
/// A text for people that says how to end a wait in FUSE.
constexpr std::string_view kAbortFuse =
    "it seems to wait for a FUSE file server that a user runs: `echo 1 >/sys/fs/fuse/connections/N/abort` "
    "ends the wait, for the N that belongs to a user and whose N/waiting is not 0";

/// pidfd_open(2). Errors: PidGone, also if the number belongs to a thread by now; Internal.
Result<UniqueFd> openPidfd(pid_t pid);

/// pidfd_send_signal(2). The process may have ended, which is not an error. Error: Internal, also if the signal is not permitted.
Result<void> sendSignalTo(int pidfd, int signal);

/// True once the process has ended, which is when its last thread has ended (reference: pidfd_open(2)).
bool hasEnded(int pidfd);

/// True for a pidfd. It looks at the link's text, because fstat(2) may ask a file server.
bool isPidfd(int fd);

} // namespace pinfold
