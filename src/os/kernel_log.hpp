// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads what the kernel's out-of-memory killer writes to the kernel's log (mm/oom_kill.c, Documentation/ABI/testing/dev-kmsg).
#pragma once

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

/// One process that the kernel killed because memory ran out.
struct OomReport {
    std::uint64_t time = 0; ///< microseconds since boot, by the kernel's log: without the time in which the node slept
    pid_t pid = 0;
    std::string name;        ///< printable()
    std::uint64_t rss = 0;   ///< bytes: anonymous, file and shared
    std::string taskCgroup;  ///< the victim's cgroup, "/batch.slice/…"; empty: the log does not say (it is rate-limited)
    std::string limitCgroup; ///< the cgroup whose limit was hit; empty: the node's memory ran out
    bool byHand = false;     ///< sysrq, or PID 1 lowered a limit
    std::optional<std::uint64_t> anon; ///< bytes in limitCgroup
    std::optional<std::uint64_t> file; ///< bytes in limitCgroup
};

/// Puts the lines of one incident together.
class OomParser {
public:
    /// Takes one line of the kernel's own. (Do not pass other lines: users of logger(1) write to the log, too.) Returns a report
    /// once it is complete. Returns none if the names of cgroups or processes leave it open which cgroups the kernel meant.
    std::optional<OomReport> feed(std::uint64_t time, std::string_view line);

private:
    OomReport incident_;
    bool byInit_ = false;  ///< PID 1 asked for the memory
    bool unclear_ = false; ///< it is not clear which cgroups it was about
    bool inStats_ = false; ///< between "Memory cgroup stats for" and the next line that is not a statistic
};

class KernelLog {
public:
    using Handler = std::function<void(const OomReport&)>;

    /// Opens /dev/kmsg at its oldest line. Error: Internal, which says what the unit file must allow.
    static Result<UniqueFd> openDevice();

    /// `kmsg`: as openDevice() gives it. Without it there are never reports.
    explicit KernelLog(UniqueFd kmsg) : kmsg_(std::move(kmsg)) {}

    bool readable() const { return static_cast<bool>(kmsg_); }
    /// From now on each kill is reported as soon as it is logged. Kills that are in the log already are reported with the next
    /// line or by drain().
    void watch(EventLoop& loop);
    /// Reads the lines that the log has by now.
    void drain();

    Handler onOom;

private:
    void take(std::string_view record);

    UniqueFd kmsg_;
    EventHandle source_;
    OomParser parser_;
};

} // namespace pinfold
