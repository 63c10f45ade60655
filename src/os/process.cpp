// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/process.hpp"

#include "base/escape.hpp"
#include "base/pidfd.hpp"
#include "os/proc_text.hpp"
#include "os/read_file.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <string_view>
#include <vector>

namespace pinfold {
namespace {

constexpr char kUninterruptible = 'D';
constexpr char kDead = 'X';
// pinfold follows only a few tracers, because processes can trace each other in a circle.
constexpr int kMostTracers = 8;
constexpr std::uint64_t kKernelThreadFlag = 0x00200000; // the flag PF_KTHREAD (include/linux/sched.h)
constexpr std::uint64_t kExitingFlag = 0x00000004;      // the flag PF_EXITING
constexpr unsigned kPidfdThread = O_EXCL;               // the flag PIDFD_THREAD, since Linux 6.9

Error gone(pid_t pid) { return {ErrorCode::PidGone, "process " + std::to_string(pid) + " has ended"}; }

/// Returns the error for a failed read of /proc/PID/…. A failed read of a file in /proc/PID does not always mean that the process
/// has ended. A read can fail, for example, because this process has no free descriptor.
Error notRead(pid_t pid) {
    if (errno == ENOENT || errno == ESRCH)
        return gone(pid);
    return {ErrorCode::Internal, "/proc/" + std::to_string(pid) + ": " + std::strerror(errno)};
}

Error unreadable(pid_t pid, const char* file) {
    return {ErrorCode::Internal, "/proc/" + std::to_string(pid) + "/" + file + " cannot be read"};
}

Microseconds ofTicks(std::uint64_t ticks) { return 1'000'000us * ticks / static_cast<std::uint64_t>(::sysconf(_SC_CLK_TCK)); }

/// The kernel adds SIGKILL to the pending signals of each thread of the process (complete_signal() in kernel/signal.c). If only
/// the first thread has ended, the process is in state Z, and `flags` says nothing about the remaining threads.
bool isDying(char state, std::uint64_t flags, std::uint64_t pendingSignals) {
    if (state == kUninterruptible)
        return false;
    return (pendingSignals >> (SIGKILL - 1) & 1) != 0 || ((flags & kExitingFlag) != 0 && state != kZombie);
}

bool parseStat(std::string_view stat, ProcessInfo& info) {
    // The name in parentheses can contain anything, even ')' and line breaks, so the name ends at the last ')'.
    const auto nameEnd = stat.rfind(')');
    if (nameEnd == std::string_view::npos)
        return false;
    const auto rest = fields(stat.substr(nameEnd + 1));
    if (rest.size() < 29)
        return false;
    // proc(5) counts fields from 1. Field 1 is the pid and field 2 is the name, so rest[0] is field 3.
    const auto at = [&rest](std::size_t field) { return number<std::uint64_t>(rest[field - 3]).value_or(0); };
    info.state = rest[0].front();
    info.parent = static_cast<pid_t>(at(4));
    info.terminal = static_cast<std::uint32_t>(at(7));
    info.kernelThread = (at(9) & kKernelThreadFlag) != 0;
    info.dying = isDying(info.state, at(9), at(31));
    info.cpu = ofTicks(at(14) + at(15));
    info.started = BootTime(ofTicks(at(22)));
    info.rss = at(24) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const auto nameStart = stat.find('(');
    info.command = "[" + printable(stat.substr(nameStart + 1, nameEnd - nameStart - 1)) + "]";
    return true;
}

bool parseUids(std::string_view status, ProcessInfo& info) {
    const auto line = lineOf(status, "Uid:");
    const auto uids = fields(line.value_or(""));
    if (uids.size() < 3)
        return false;
    info.realUid = number<uid_t>(uids[0]).value_or(static_cast<uid_t>(-1));
    info.effectiveUid = number<uid_t>(uids[1]).value_or(static_cast<uid_t>(-1));
    info.savedUid = number<uid_t>(uids[2]).value_or(static_cast<uid_t>(-1));
    return true;
}

/// Returns true if `pid` is the number of a thread, and the thread is not the first thread of its process. Each thread has its
/// own status, and a thread's user ids can differ from the user ids of the process.
bool isThread(std::string_view status, pid_t pid) {
    const auto group = number<pid_t>(lineOf(status, "Tgid:").value_or(""));
    return group && *group != pid;
}

void parseGroups(std::string_view status, ProcessInfo& info) {
    if (const auto ids = fields(lineOf(status, "Gid:").value_or("")); !ids.empty())
        if (const auto gid = number<gid_t>(ids.front()))
            info.groups.push_back(*gid);
    for (const auto word : fields(lineOf(status, "Groups:").value_or("")))
        if (const auto gid = number<gid_t>(word))
            info.groups.push_back(*gid);
}

/// Returns the kernel function in which a process or thread waits. The file `wchan` contains 0 if the process runs, or if the
/// caller lacks the right to see the kernel function.
std::optional<std::string> waitPoint(const std::filesystem::path& directory) {
    auto name = readFile(AT_FDCWD, (directory / "wchan").c_str());
    if (!name || name->empty() || *name == "0")
        return std::nullopt;
    return printable(*name, 100);
}

/// Returns the directory of the first thread for which `wanted` returns true. The function `wanted` gets the directory and the
/// state of a thread.
std::optional<std::filesystem::path> firstThread(const std::filesystem::path& threads,
                                                 const std::function<bool(const std::filesystem::path&, char)>& wanted) {
    std::error_code error;
    for (std::filesystem::directory_iterator entry(threads, error), end; !error && entry != end; entry.increment(error)) {
        ProcessInfo thread;
        const auto stat = readFile(AT_FDCWD, (entry->path() / "stat").c_str());
        if (stat && parseStat(*stat, thread) && wanted(entry->path(), thread.state))
            return entry->path();
    }
    return std::nullopt;
}

/// Returns the directory of a thread in state D. uninterruptibleThread() prefers a thread that waits in FUSE, because that thread
/// can hold a lock for which other threads of the process wait.
std::optional<std::filesystem::path> uninterruptibleThread(const std::filesystem::path& threads) {
    std::optional<std::filesystem::path> first;
    const auto inFuse = firstThread(threads, [&first](const std::filesystem::path& directory, char state) {
        if (state != kUninterruptible)
            return false;
        if (!first)
            first = directory;
        return isInFuse(waitPoint(directory).value_or(""));
    });
    return inFuse ? inFuse : first;
}

/// Returns the number of a living thread of a process. The list of threads can contain ended threads, because a traced thread
/// stays in the list after its end.
std::optional<pid_t> livingThread(const std::filesystem::path& threads) {
    const auto found =
        firstThread(threads, [](const std::filesystem::path&, char state) { return state != kZombie && state != kDead; });
    return found ? number<pid_t>(found->filename().native()) : std::nullopt;
}

std::optional<std::filesystem::path> userNamespace(const std::filesystem::path& process) {
    std::error_code error;
    auto name = std::filesystem::read_symlink(process / "ns/user", error);
    return error ? std::nullopt : std::optional(std::move(name));
}

Result<std::vector<pid_t>> pidsIn(const std::filesystem::path& directory) {
    std::vector<pid_t> found;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
        if (const auto name = entry->path().filename().native(); name.find_first_not_of("0123456789") == std::string::npos)
            if (const auto pid = number<pid_t>(name))
                found.push_back(*pid);
    if (error)
        return Error{ErrorCode::Internal, directory.string() + " cannot be listed: " + error.message()};
    return found;
}

/// Returns the value of "hidepid=" in the options of the topmost mount at /proc. The result is "off" if the options do not
/// contain "hidepid=".
std::string hidden(std::string_view mounts) {
    std::string found = "off";
    for (std::size_t start = 0; start < mounts.size();) {
        const auto end = std::min(mounts.find('\n', start), mounts.size());
        const auto line = mounts.substr(start, end - start);
        start = end + 1;
        const auto words = fields(line);
        if (words.size() < 5 || words[4] != "/proc")
            continue;
        constexpr std::string_view name = "hidepid=";
        const auto at = line.rfind(name);
        const auto value = at == std::string_view::npos ? std::string_view("off") : line.substr(at + name.size());
        found = value.substr(0, value.find_first_of(", "));
    }
    return found;
}

std::string commandLine(std::string raw) {
    while (!raw.empty() && raw.back() == '\0')
        raw.pop_back();
    for (auto& c : raw)
        if (c == '\0')
            c = ' ';
    return printable(raw);
}

/// Returns the process that traces a thread of this process. With PTRACE_O_TRACEEXIT (ptrace(2)) the thread cannot end until
/// its tracer lets the thread continue.
std::optional<pid_t> tracerOfAThread(const ProcessTable& table, pid_t pid) {
    const auto threads = table.threadsOf(pid);
    for (const auto thread : threads ? *threads : std::vector<pid_t>())
        if (const auto tracer = table.tracerOf(thread); tracer && *tracer != 0)
            if (const auto process = table.processOf(*tracer))
                return *process;
    return std::nullopt;
}

} // namespace

Result<pid_t> ProcessTable::pidOf(int pidfd) const {
    const auto fd = std::to_string(pidfd);
    if (!isPidfd(pidfd))
        return Error{ErrorCode::InvalidArgument, "the descriptor passed for a process is not a pidfd: use pidfd_open(2)"};
    const auto info = readFile(AT_FDCWD, ("/proc/self/fdinfo/" + fd).c_str());
    if (!info)
        return Error{ErrorCode::Internal, "/proc/self/fdinfo: " + std::string(std::strerror(errno))};
    // A pidfd of a thread becomes readable when the thread ends, even if the process still runs.
    if ((number<unsigned>(lineOf(*info, "flags:").value_or(""), 8).value_or(0) & kPidfdThread) != 0)
        return Error{ErrorCode::InvalidArgument, "the passed pidfd refers to a thread: use pidfd_open(2) without PIDFD_THREAD"};
    const auto pid = number<pid_t>(lineOf(*info, "Pid:").value_or(""));
    if (!pid || *pid == 0)
        return Error{ErrorCode::InvalidArgument, "the passed pidfd refers to a process outside of pinfoldd's pid namespace"};
    if (*pid < 0)
        return Error{ErrorCode::PidGone, "the process has ended"};
    return *pid;
}

Result<std::string> ProcessTable::cgroupOf(pid_t pid) const { return cgroupIn(pid, "cgroup"); }

Result<std::string> ProcessTable::cgroupOfThread(pid_t pid, pid_t thread) const {
    return cgroupIn(pid, ("task/" + std::to_string(thread) + "/cgroup").c_str());
}

Result<std::string> ProcessTable::cgroupOf(const ProcessInfo& info) const {
    if (info.state == kZombie)
        if (const auto thread = livingThread(root_ / "proc" / std::to_string(info.pid) / "task"))
            if (auto path = cgroupOfThread(info.pid, *thread))
                return path;
    return cgroupOf(info.pid);
}

Result<pid_t> ProcessTable::processOf(pid_t thread) const { return pidIn(thread, "Tgid:"); }

Result<pid_t> ProcessTable::tracerOf(pid_t thread) const { return pidIn(thread, "TracerPid:"); }

Result<std::vector<pid_t>> ProcessTable::threadsOf(pid_t pid) const {
    auto threads = pidsIn(root_ / "proc" / std::to_string(pid) / "task");
    return threads ? threads : notRead(pid);
}

Result<pid_t> ProcessTable::pidIn(pid_t thread, std::string_view line) const {
    const auto status = file(thread, "status");
    if (!status)
        return notRead(thread);
    const auto pid = number<pid_t>(lineOf(*status, line).value_or(""));
    return pid ? Result(*pid) : unreadable(thread, "status");
}

Result<std::string> ProcessTable::cgroupIn(pid_t pid, const char* name) const {
    const auto text = file(pid, name);
    if (!text)
        return notRead(pid);
    auto path = lineOf(*text, "0::");
    if (!path)
        return unreadable(pid, "cgroup");
    constexpr std::string_view deleted = " (deleted)";
    if (path->ends_with(deleted))
        path->remove_suffix(deleted.size());
    return std::string(*path);
}

std::optional<std::string> ProcessTable::file(pid_t pid, const char* name) const {
    const auto path = root_.native() + "/proc/" + std::to_string(pid) + "/" + name;
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    std::array<char, 4096> text; // NOLINT(cppcoreguidelines-pro-type-member-init): read(2) fills the buffer
    const auto length = fd ? ::read(fd.get(), text.data(), text.size()) : -1;
    if (length < 0)
        return std::nullopt;
    // read(2) of a file in /proc returns the whole text, or as much of the text as fits into the buffer. If the text does not
    // fill the buffer, the text is complete.
    return length < static_cast<ssize_t>(text.size()) ? std::string(text.data(), static_cast<std::size_t>(length))
                                                      : readFile(AT_FDCWD, path.c_str());
}

Result<std::vector<pid_t>> ProcessTable::pids() const { return pidsIn(root_ / "proc"); }

Result<void> ProcessTable::showsAll() const {
    const auto mounts = readFile(AT_FDCWD, (root_ / "proc/self/mountinfo").c_str());
    const auto status = mounts ? readFile(AT_FDCWD, (root_ / "proc/self/status").c_str()) : std::nullopt;
    if (!status)
        return Error{ErrorCode::Internal, "/proc/self cannot be read: " + std::string(std::strerror(errno))};
    const auto how = hidden(*mounts);
    if (how == "off" || how == "0")
        return {};
    const auto capabilities = number<std::uint64_t>(lineOf(*status, "CapEff:").value_or(""), 16).value_or(0);
    if ((capabilities >> CAP_SYS_PTRACE & 1) != 0)
        return {};
    return Error{ErrorCode::Internal, "/proc is mounted with hidepid=" + printable(how, 20) +
                                          " and may hide processes: run as root with CAP_SYS_PTRACE to see all processes"};
}

Result<ProcessInfo> ProcessTable::read(pid_t pid) const {
    ProcessInfo info;
    info.pid = pid;
    const auto stat = file(pid, "stat");
    const auto status = stat ? file(pid, "status") : std::nullopt;
    if (!status)
        return notRead(pid);
    if (!parseStat(*stat, info) || !parseUids(*status, info))
        return unreadable(pid, "stat");
    info.thread = isThread(*status, pid);
    parseGroups(*status, info);
    return info;
}

Result<ProcessInfo> ProcessTable::readWithCommand(pid_t pid) const {
    auto info = read(pid);
    if (info)
        info->command = commandOf(*info);
    return info;
}

std::string ProcessTable::commandOf(const ProcessInfo& info) const {
    auto command = file(info.pid, "cmdline");
    return command && !command->empty() ? commandLine(std::move(*command)) : info.command;
}

Result<ProcessInfo> ProcessTable::readStuck(pid_t pid) const {
    auto info = read(pid);
    if (!info)
        return info;
    const auto directoryOf = [this](pid_t process) { return root_ / "proc" / std::to_string(process); };
    auto holder = pid;
    // readStuck() looks at all threads of the process, because the first thread could have ended while another thread hangs.
    auto thread = uninterruptibleThread(directoryOf(holder) / "task");
    if (thread)
        info->state = kUninterruptible;
    for (int i = 0; !thread && i < kMostTracers; ++i) {
        const auto tracer = tracerOfAThread(*this, holder);
        if (!tracer)
            break;
        holder = *tracer;
        thread = uninterruptibleThread(directoryOf(holder) / "task");
    }
    const auto directory = directoryOf(thread ? holder : pid);
    const auto theirs = userNamespace(directory);
    info->ownNamespace = theirs && theirs != userNamespace("/proc/self");
    info->waitPoint = waitPoint(thread.value_or(directory));
    return info;
}

bool isInFuse(std::string_view waitPoint) { return waitPoint == "request_wait_answer" || waitPoint.starts_with("fuse_"); }

Result<void> sendSignalTo(int pidfd, int signal) {
    if (::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0 || errno == ESRCH)
        return {};
    return Error{ErrorCode::Internal, "signal " + std::to_string(signal) + " cannot be sent: " + std::strerror(errno)};
}

Result<UniqueFd> openPidfd(pid_t pid) {
    auto fd = pidfdOf(pid);
    if (fd)
        return fd;
    // If `pid` is the number of a thread, pidfd_open(2) fails with EINVAL or ENOENT. If a thread has the number `pid`, the
    // process that had this number has ended.
    if (errno == ESRCH || errno == EINVAL || errno == ENOENT)
        return gone(pid);
    return Error{ErrorCode::Internal, "pidfd_open of process " + std::to_string(pid) + ": " + std::strerror(errno)};
}

bool isPidfd(int fd) {
    constexpr auto pidfds = static_cast<idtype_t>(3); // the value of P_PIDFD, which glibc before 2.36 does not define
    siginfo_t info{};
    // With WNOWAIT, waitid(2) does not reap the process, even if the process is a child of the caller. For most pidfds, waitid(2)
    // fails with ECHILD, because the process is not a child. For a descriptor that is not a pidfd, waitid(2) fails with EBADF.
    return ::waitid(pidfds, static_cast<id_t>(fd), &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno == ECHILD || errno == EAGAIN;
}

bool hasEnded(int pidfd) {
    pollfd poller{pidfd, POLLIN, 0};
    return ::poll(&poller, 1, 0) > 0 && (poller.revents & POLLIN) != 0;
}

} // namespace pinfold
