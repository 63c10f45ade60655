// SPDX-License-Identifier: LGPL-2.1-or-later
#include "os/kernel_log.hpp"

#include "base/escape.hpp"
#include "base/parse.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace pinfold {
namespace {

constexpr std::size_t kMaxRecord = 8192; // the kernel's CONSOLE_EXT_LOG_MAX; read(2) fails if the buffer is smaller
constexpr std::size_t kMaxComm = 15;     // the kernel's TASK_COMM_LEN without the final null byte

std::optional<std::uint64_t> numberAt(std::string_view text) {
    const auto parsed = parseUnsigned(text.substr(0, std::min(text.find_first_not_of("0123456789"), text.size())));
    return parsed ? std::optional(*parsed) : std::nullopt;
}

/// Returns the number that directly follows the first occurrence of `name` in `text`.
std::optional<std::uint64_t> numberAfter(std::string_view text, std::string_view name) {
    const auto at = text.find(name);
    return at == std::string_view::npos ? std::nullopt : numberAt(text.substr(at + name.size()));
}

/// Returns the part of `text` between the first occurrence of `name` and the next occurrence of `end`.
std::string between(std::string_view text, std::string_view name, std::string_view end) {
    const auto at = text.find(name);
    if (at == std::string_view::npos)
        return {};
    const auto rest = text.substr(at + name.size());
    return std::string(rest.substr(0, std::min(rest.find(end), rest.size())));
}

/// Returns true if `text` contains `mark` exactly once. A user can give a cgroup or a process a name that contains `mark`.
bool isOnce(std::string_view text, std::string_view mark) {
    const auto at = text.find(mark);
    return at != std::string_view::npos && at == text.rfind(mark);
}

bool isPath(std::string_view text) { return text.starts_with('/') && text.find(',') == std::string_view::npos; }

/// If the text begins with `name` and a number, removes both from the text, and returns the number. Returns nullopt if the text
/// does not begin with `name` and a number.
std::optional<std::uint64_t> takeNumber(std::string_view& text, std::string_view name) {
    if (!text.starts_with(name))
        return std::nullopt;
    const auto number = numberAt(text.substr(name.size()));
    if (number)
        text.remove_prefix(std::min(text.find_first_not_of("0123456789", name.size()), text.size()));
    return number;
}

/// Returns the number after "PID:" in a line of the form "CPU: … UID: … PID: … Comm: …". The part "UID: …" can be missing.
std::optional<std::uint64_t> pidOfDump(std::string_view line) {
    if (!takeNumber(line, "CPU: "))
        return std::nullopt;
    (void)takeNumber(line, " UID: ");
    const auto pid = takeNumber(line, " PID: ");
    return line.starts_with(" Comm: ") ? pid : std::nullopt;
}

/// If the line says which process the kernel has killed, returns the line's text from "Killed process" to the end.
std::string_view killedProcess(std::string_view line) {
    // The line about a killed process begins in one of three ways (mm/oom_kill.c).
    for (const std::string_view beginning :
         {"Memory cgroup out of memory: ", "Out of memory: ", "Out of memory (oom_kill_allocating_task): "})
        if (line.starts_with(beginning) && line.substr(beginning.size()).starts_with("Killed process "))
            return line.substr(beginning.size());
    return {};
}

std::uint64_t kibibytes(std::string_view text, std::string_view name) { return numberAfter(text, name).value_or(0) * 1024; }

/// Undoes the escapes of /dev/kmsg. The kernel writes backslashes and unprintable bytes as "\xNN".
std::string unescaped(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto hex = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
        if (text[i] == '\\' && i + 3 < text.size() && text[i + 1] == 'x' && hex(text[i + 2]) >= 0 && hex(text[i + 3]) >= 0) {
            out += static_cast<char>(hex(text[i + 2]) * 16 + hex(text[i + 3]));
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

} // namespace

// Users choose parts of many lines in the kernel's log. The line about a crashed program begins with the name of the process. The
// name of a process has at most kMaxComm bytes. The kernel's line about a crashed program contains the name of the program's
// file. feed() must not mistake a text that a user chose for the kernel's words.
std::optional<OomReport> OomParser::feed(MonotonicTime time, std::string_view line) {
    // The line reads "python3 invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0".
    if (const auto at = line.find(" invoked oom-killer: ");
        at != std::string_view::npos && unescaped(line.substr(0, at)).size() <= kMaxComm) {
        *this = OomParser();
        // If an administrator triggered the kill by sysrq, the line contains "order=-1" (mm/oom_kill.c).
        incident_.byHand = line.find("order=-1,", at) != std::string_view::npos;
        return std::nullopt;
    }
    // The line "CPU: …" names the process whose request for memory the kernel could not fulfil. If PID 1 lowers a memory limit
    // below the memory use of the cgroup, the line "CPU: …" names PID 1.
    if (const auto pid = pidOfDump(line)) {
        byInit_ = byInit_ || *pid == 1;
        return std::nullopt;
    }
    if (line.starts_with("Memory cgroup stats for ")) {
        inStats_ = true;
        return std::nullopt;
    }
    if (inStats_)
        for (const auto& [name, member] : {std::pair<std::string_view, std::optional<std::uint64_t>*>{"anon ", &incident_.anon},
                                           {"file ", &incident_.file},
                                           {"shmem ", &incident_.shmem}})
            if (auto rest = line; const auto number = takeNumber(rest, name)) {
                if (!*member && rest.empty())
                    *member = number;
                return std::nullopt;
            }
    // The line reads "oom-kill:constraint=CONSTRAINT_MEMCG,…,oom_memcg=/a,task_memcg=/a/b,task=NAME,pid=209,uid=0". The name of
    // the process (NAME) can contain any characters.
    if (line.starts_with("oom-kill:constraint=")) {
        inStats_ = false;
        const auto limit = between(line, ",oom_memcg=", ",task_memcg=");
        const auto task = between(line, ",task_memcg=", ",task=");
        const bool ofTheNode = line.find(",oom_memcg=") == std::string_view::npos;
        unclear_ =
            !isOnce(line, ",task_memcg=") || !isPath(task) || !(ofTheNode || (isOnce(line, ",oom_memcg=") && isPath(limit)));
        incident_.limitCgroup = unescaped(limit);
        incident_.taskCgroup = unescaped(task);
        // If PID 1 caused the kill by lowering a cgroup's memory limit, the line "oom-kill:…" names this cgroup in "oom_memcg=".
        // If the node ran out of memory, the line "oom-kill:…" has no "oom_memcg=", even if PID 1 asked for the memory.
        incident_.byHand = incident_.byHand || (byInit_ && !incident_.limitCgroup.empty());
        return std::nullopt;
    }
    // The text reads "Killed process 209 (NAME) total-vm:…kB, anon-rss:…kB, file-rss:…kB, shmem-rss:…kB, UID:0 …".
    const auto killed = killedProcess(line);
    const auto figures = killed.rfind(") total-vm:");
    if (figures == std::string_view::npos)
        return std::nullopt;
    auto report = std::exchange(incident_, OomReport());
    const bool unclear = unclear_;
    *this = OomParser();
    if (unclear)
        return std::nullopt;
    report.time = time;
    report.pid = static_cast<pid_t>(numberAfter(killed, "process ").value_or(0));
    if (const auto nameAt = killed.find('('); nameAt < figures)
        report.name = printable(unescaped(killed.substr(nameAt + 1, figures - nameAt - 1)), 100);
    const auto rest = killed.substr(figures);
    report.rss = kibibytes(rest, "anon-rss:") + kibibytes(rest, "file-rss:") + kibibytes(rest, "shmem-rss:");
    return report;
}

Result<UniqueFd> KernelLog::openDevice() {
    UniqueFd fd(::open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    if (fd)
        return fd;
    return Error{ErrorCode::Internal,
                 std::string("/dev/kmsg: ") + std::strerror(errno) +
                     "; pinfoldd will not know which processes were killed when memory ran out (pinfoldd's unit needs "
                     "CAP_SYSLOG and access to the device)"};
}

void KernelLog::watch(EventLoop& loop) {
    if (kmsg_)
        source_ = loop.onReadable(kmsg_.get(), [this] { drain(); });
}

void KernelLog::drain() {
    std::array<char, kMaxRecord> record; // NOLINT(cppcoreguidelines-pro-type-member-init): read(2) fills the buffer
    for (;;) {
        const auto length = kmsg_ ? ::read(kmsg_.get(), record.data(), record.size()) : 0;
        if (length > 0)
            take({record.data(), static_cast<std::size_t>(length)});
        // EPIPE means that the kernel overwrote lines before pinfoldd read them.
        else if (length == 0 || (errno != EPIPE && errno != EINTR))
            return;
    }
}

/// Reads a record of /dev/kmsg such as "6,1234,98765432,-;text\n KEY=value\n". Four fields precede the text: the priority with
/// the facility, the sequence number, the time in microseconds, and flags.
void KernelLog::take(std::string_view record) {
    const auto text = record.find(';');
    const auto priority = numberAt(record);
    if (text == std::string_view::npos || !priority || *priority >> 3 != 0) // lines of the kernel itself have the facility 0
        return;
    const auto sequence = record.find(',');
    const auto stamp = sequence == std::string_view::npos ? sequence : record.find(',', sequence + 1);
    const auto time = fromUsec<MonotonicTime>(stamp < text ? numberAt(record.substr(stamp + 1)).value_or(0) : 0);
    const auto end = std::min(record.find('\n', text), record.size());
    const auto line = record.substr(text + 1, end - text - 1);
    // Older kernels (6.1) write a cgroup's statistics in one record with escaped line breaks. A record that contains no
    // statistics has one line. In a record without statistics, an escaped line break is a part of a process's name.
    if (line.starts_with("anon ")) {
        for (std::size_t start = 0; start <= line.size();) {
            const auto stop = std::min(line.find("\\x0a", start), line.size());
            (void)parser_.feed(time, line.substr(start, stop - start));
            start = stop + 4;
        }
        return;
    }
    if (auto report = parser_.feed(time, line); report && onOom)
        onOom(*report);
}

} // namespace pinfold
