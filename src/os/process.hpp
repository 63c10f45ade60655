// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads the data of processes from /proc and through pidfds. A pidfd always refers to the same process. After the end of a
// process, a new process can get the pid of the ended process. Before and after the use of a pid, code must check that the pid
// still belongs to the intended process.
#pragma once

#include "base/clock.hpp"
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

/// Describes one process as /proc/PID/{stat,status,cmdline} show it (proc(5)).
struct ProcessInfo {
    pid_t pid = 0;
    uid_t realUid = 0;
    uid_t effectiveUid = 0;
    uid_t savedUid = 0;
    std::vector<gid_t> groups; ///< the real group id and the supplementary group ids of the process
    bool kernelThread = false;
    /// If `thread` is true, `pid` belongs to a thread other than the first thread of a process. If `pid` is the number of a
    /// thread, /proc/PID shows this thread.
    bool thread = false;
    char state = '?';
    /// If `dying` is true, the process runs none of its own code any more: SIGKILL is pending for the process, or the process has
    /// begun to exit. A process in state D can hang for ever in spite of SIGKILL, so `dying` is always false for a process in
    /// state D.
    bool dying = false;
    BootTime started{};    ///< the time at which the process started, rounded to a clock tick
    Microseconds cpu{};    ///< the user and system CPU time of the process
    std::uint64_t rss = 0; ///< the resident memory of the process, in bytes
    pid_t parent = 0;
    /// The device number of the controlling terminal, as in st_rdev, or 0 if the process has no terminal.
    std::uint32_t terminal = 0;
    /// Names the kernel function in which the process sleeps. waitPoint is unset if the process runs, or if the caller did not
    /// ask for the wait point. If pinfold lacks the right to see the kernel function, waitPoint is unset.
    std::optional<std::string> waitPoint;
    /// If ownNamespace is true, the process and the calling process are in different user namespaces. ownNamespace is set only if
    /// the caller asked for the wait point.
    bool ownNamespace = false;
    /// The command line, made printable by printable(). `command` is "[name]" if the process has no command line, or if the
    /// caller did not ask for the command line.
    std::string command;

    /// Returns the name of the program that the process runs (comm, at most 15 bytes). printable() has made the name printable.
    /// Call name() only if `command` is "[name]".
    std::string name() const { return command.substr(1, command.size() - 2); }
};

/// Reads processes. Several threads can use a ProcessTable at the same time. The functions commandOf() and readWithCommand() can
/// block, because they take the lock of the process's memory (mmap_lock). A process that waits for a file server can hold the
/// lock of its memory (mmap_lock) for ever. The event loop must not call commandOf() or readWithCommand(), because both functions
/// can block. All functions except commandOf() and readWithCommand() read only data that the kernel has in memory.
class ProcessTable {
public:
    /// The directory `root` contains "proc", and is "/" except in tests. To look at descriptors of the calling process, a
    /// ProcessTable always uses the real /proc.
    explicit ProcessTable(std::filesystem::path root = "/") : root_(std::move(root)) {}

    /// Finds out from /proc/self/fdinfo to which process a pidfd refers. Fails with PidGone if the process has ended, and with
    /// InvalidArgument if the descriptor is not the pidfd of a whole process.
    Result<pid_t> pidOf(int pidfd) const;

    /// Returns the cgroup v2 path of a process, such as "/batch.slice/…", without " (deleted)". Fails with PidGone if the process
    /// has ended, or with Internal if pinfold cannot read the path.
    Result<std::string> cgroupOf(pid_t pid) const;
    /// Returns the cgroup v2 path of one thread of a process. A thread's path can differ from its process's path only if the
    /// process's first thread has ended.
    Result<std::string> cgroupOfThread(pid_t pid, pid_t thread) const;
    /// Returns the process to which the thread belongs. Errors: PidGone; Internal.
    Result<pid_t> processOf(pid_t thread) const;
    /// Returns the thread that traces the given thread (ptrace(2)), or 0 if no thread traces the given thread. Errors: PidGone;
    /// Internal.
    Result<pid_t> tracerOf(pid_t thread) const;
    /// Returns the current threads of a process. Error: PidGone.
    Result<std::vector<pid_t>> threadsOf(pid_t pid) const;

    /// Returns the cgroup of a process that read() has returned. If a process's first thread has ended and other threads run,
    /// /proc/PID/cgroup still shows the last cgroup of the first thread. If the first thread has ended, cgroupOf() returns the
    /// cgroup of a thread that still runs. Fails with the errors of cgroupOf(pid).
    Result<std::string> cgroupOf(const ProcessInfo& info) const;

    /// Returns all processes of this pid namespace. Fails with Internal if pinfold cannot read the complete list of processes.
    Result<std::vector<pid_t>> pids() const;

    /// Succeeds if /proc hides nothing from this process. Fails with Internal if /proc is mounted in a way that hides processes;
    /// the message says what to do.
    Result<void> showsAll() const;

    /// Reads all facts about a process except its command line. Fails with PidGone if the process has ended, or with Internal if
    /// pinfold cannot read or parse a file of the process.
    Result<ProcessInfo> read(pid_t pid) const;
    /// Reads all facts about a process, including the command line. readWithCommand() can block.
    Result<ProcessInfo> readWithCommand(pid_t pid) const;
    /// Returns the process's command line, made printable by printable(). If the process has no command line, or if pinfold
    /// cannot read the command line, the result is `info.command`. commandOf() can block.
    std::string commandOf(const ProcessInfo& info) const;
    /// readStuck() returns all facts that read() returns. If a thread of the process cannot be interrupted, readStuck() reads the
    /// state and the wait point of that thread. If several threads cannot be interrupted, readStuck() prefers a thread that waits
    /// for a file server. If the process has no uninterruptible thread, readStuck() looks for an uninterruptible thread in the
    /// process's tracer. Only a process with CAP_SYS_PTRACE sees the wait points and namespaces of other users' processes. The
    /// function readStuck() looks at each thread of a process, and a process can have thousands of threads.
    Result<ProcessInfo> readStuck(pid_t pid) const;

private:
    /// Reads the text of a file of /proc/PID.
    std::optional<std::string> file(pid_t pid, const char* name) const;
    Result<std::string> cgroupIn(pid_t pid, const char* name) const;
    /// Reads the thread's file "status" (proc(5)), and returns the number in the line that begins with the text `line`.
    Result<pid_t> pidIn(pid_t thread, std::string_view line) const;

    std::filesystem::path root_;
};

/// ProcessInfo::state has the value kZombie if the first thread of the process has ended and other threads still run.
inline constexpr char kZombie = 'Z';

/// Returns true if `waitPoint` is a kernel function in which processes wait for a FUSE file server.
bool isInFuse(std::string_view waitPoint);
/// kAbortFuse tells an administrator how to end a process's wait in FUSE.
constexpr std::string_view kAbortFuse =
    "it seems to wait for a FUSE file server that a user runs: `echo 1 >/sys/fs/fuse/connections/N/abort` "
    "ends the wait, where N is the connection of a user whose file N/waiting does not contain 0";

/// Opens a pidfd of the process (pidfd_open(2)). Fails with PidGone if the process has ended, even if the process's number now
/// belongs to a thread. openPidfd() reports every failure except PidGone as Internal.
Result<UniqueFd> openPidfd(pid_t pid);

/// Sends a signal (pidfd_send_signal(2)). sendSignalTo() succeeds even if the process has ended. Fails with Internal if the
/// signal cannot be sent, for example because the caller lacks the right to send it.
Result<void> sendSignalTo(int pidfd, int signal);

/// Returns true if the last thread of the process has ended (see pidfd_open(2)).
bool hasEnded(int pidfd);

/// Returns true if the descriptor is a pidfd. The function isPidfd() asks waitid(2), which looks only at the kind of the
/// descriptor. isPidfd() does not call fstat(2), because fstat(2) can ask a file server.
bool isPidfd(int fd);

} // namespace pinfold
