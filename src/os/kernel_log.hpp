// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads what the kernel's out-of-memory killer writes to the kernel's log (mm/oom_kill.c, Documentation/ABI/testing/dev-kmsg).
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "base/unique_fd.hpp"
#include "os/event_loop.hpp"

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Describes one process that the kernel killed because memory ran out.
struct OomReport {
    /// The time of the kill on the clock of the kernel's log. The clock of the kernel's log stands still while the node is
    /// suspended.
    MonotonicTime time{};
    pid_t pid = 0;
    std::string name;      ///< the name of the killed process, made printable by printable()
    std::uint64_t rss = 0; ///< the anonymous, file and shared memory of the killed process, in bytes
    /// The cgroup of the killed process, such as "/batch.slice/…". taskCgroup is empty if the kernel dropped the line about the
    /// cgroup to obey the rate limit of the log.
    std::string taskCgroup;
    std::string limitCgroup;            ///< the cgroup whose limit was reached; empty if the memory of the node ran out
    bool byHand = false;                ///< an administrator caused the kill by sysrq, or PID 1 lowered a limit
    std::optional<std::uint64_t> anon;  ///< the anonymous memory that the cgroup limitCgroup uses, in bytes
    std::optional<std::uint64_t> file;  ///< the page cache of the cgroup limitCgroup, including shared memory, in bytes
    std::optional<std::uint64_t> shmem; ///< the shared memory that the cgroup limitCgroup uses, in bytes
};

/// Makes a report from the lines of one out-of-memory kill.
class OomParser {
public:
    /// Parses one line of the kernel's log. Pass to feed() only lines that the kernel itself wrote, because other programs can
    /// write to the kernel's log. When `line` completes a report, feed() returns the report. If the name of a cgroup or process
    /// looks like a part of the kernel's line, feed() returns no report.
    std::optional<OomReport> feed(MonotonicTime time, std::string_view line);

private:
    OomReport incident_;
    bool byInit_ = false;  ///< true if PID 1 is the process that asked for the memory
    bool unclear_ = false; ///< the lines do not clearly name the cgroup with the limit and the cgroup of the killed process
    bool inStats_ = false; ///< the next line can contain one of the figures that follow the line "Memory cgroup stats for"
};

class KernelLog {
public:
    using Handler = std::function<void(const OomReport&)>;

    /// Opens /dev/kmsg at its oldest line. The message of the error Internal says what pinfoldd's unit file must allow.
    static Result<UniqueFd> openDevice();

    /// The argument `kmsg` is the result of openDevice(). If `kmsg` is empty, KernelLog never reports anything.
    explicit KernelLog(UniqueFd kmsg) : kmsg_(std::move(kmsg)) {}

    bool readable() const { return static_cast<bool>(kmsg_); }
    /// After watch(), KernelLog reports each kill as soon as the kernel logs the kill. If a kill happened before the call of
    /// watch(), KernelLog reports the kill with the kernel's next line or during drain().
    void watch(EventLoop& loop);
    /// Reads all lines that the kernel's log contains now.
    void drain();

    Handler onOom;

private:
    void take(std::string_view record);

    UniqueFd kmsg_;
    EventHandle source_;
    OomParser parser_;
};

} // namespace pinfold
