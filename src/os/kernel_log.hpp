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
    MonotonicTime time{}; ///< the time on the clock of the kernel's log, which stands still while the node
                          ///< sleeps
    pid_t pid = 0;
    std::string name;      ///< made printable by printable()
    std::uint64_t rss = 0; ///< bytes of anonymous, file and shared memory
    std::string taskCgroup; ///< the victim's cgroup, "/batch.slice/…"; empty if the log does not say it (the log is rate-limited)
    std::string limitCgroup;           ///< the cgroup whose limit was reached; empty if the node's memory ran out
    bool byHand = false;               ///< somebody used sysrq, or PID 1 lowered a limit
    std::optional<std::uint64_t> anon; ///< anonymous memory in limitCgroup, in bytes
    std::optional<std::uint64_t> file; ///< file memory in limitCgroup, in bytes
};

/// Makes a report from the lines of one out-of-memory kill.
class OomParser {
public:
    /// Takes a line that the kernel itself wrote. Do not pass lines from other writers to feed(), because users can write to
    /// the log, too (logger(1)). Returns a report when the report is complete. If names of cgroups or processes look like parts
    /// of a line, feed() returns no report, because it is not clear which cgroups the kernel meant.
    std::optional<OomReport> feed(MonotonicTime time, std::string_view line);

private:
    OomReport incident_;
    bool byInit_ = false;  ///< PID 1 asked for the memory
    bool unclear_ = false; ///< it is not clear which cgroups the kernel meant
    bool inStats_ = false; ///< the next line may be a statistic that follows "Memory cgroup stats for"
};

class KernelLog {
public:
    using Handler = std::function<void(const OomReport&)>;

    /// Opens /dev/kmsg at its oldest line. Error: Internal; the message says what pinfoldd's unit file must allow.
    static Result<UniqueFd> openDevice();

    /// `kmsg` is the result of openDevice(). If `kmsg` is empty, KernelLog never reports anything.
    explicit KernelLog(UniqueFd kmsg) : kmsg_(std::move(kmsg)) {}

    bool readable() const { return static_cast<bool>(kmsg_); }
    /// After watch(), KernelLog reports each kill as soon as the kernel logs the kill. KernelLog reports older kills in the log
    /// when the next line comes, or when drain() is called.
    void watch(EventLoop& loop);
    /// Reads all lines that are in the kernel's log at the moment.
    void drain();

    Handler onOom;

private:
    void take(std::string_view record);

    UniqueFd kmsg_;
    EventHandle source_;
    OomParser parser_;
};

} // namespace pinfold
