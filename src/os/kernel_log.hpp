// SPDX-License-Identifier: LGPL-2.1-or-later
// What the kernel's out-of-memory killer says in its log (mm/oom_kill.c, Documentation/ABI/testing/dev-kmsg).
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

/// One process that the kernel killed for memory.
struct OomReport {
    std::uint64_t time = 0; ///< microseconds since boot, by the kernel's log: without the time that the node slept
    pid_t pid = 0;
    std::string name;                  ///< printable()
    std::uint64_t rss = 0;             ///< bytes: anonymous, file and shared
    std::string taskCgroup;            ///< of the victim, "/batch.slice/…"; empty: the log doesn't say (it is rate-limited)
    std::string limitCgroup;           ///< whose limit was hit; empty: the node's memory
    bool byHand = false;               ///< sysrq, or init lowered a limit
    std::optional<std::uint64_t> anon; ///< bytes in limitCgroup
    std::optional<std::uint64_t> file; ///< bytes in limitCgroup
};

/// Puts the lines of one incident together.
class OomParser {
public:
    /// One line of the kernel's own (no other may be passed: users of logger(1) write there too). A report, once it is complete;
    /// none where the names of cgroups or processes leave it open which cgroups the kernel meant.
    std::optional<OomReport> feed(std::uint64_t time, std::string_view line);

private:
    OomReport incident_;
    bool byInit_ = false;  ///< PID 1 asked for the memory
    bool unclear_ = false; ///< which cgroups it was about
    bool inStats_ = false; ///< between "Memory cgroup stats for" and the next line that is no statistic
};

class KernelLog {
public:
    using Handler = std::function<void(const OomReport&)>;

    /// /dev/kmsg, from its oldest line on. Error: Internal, with what the unit must allow.
    static Result<UniqueFd> openDevice();

    /// `kmsg`: as openDevice() gives, or none: then there are never reports.
    explicit KernelLog(UniqueFd kmsg) : kmsg_(std::move(kmsg)) {}

    bool readable() const { return static_cast<bool>(kmsg_); }
    /// From now on what comes is reported as it comes; what is there already, with the first line or drain().
    void watch(EventLoop& loop);
    /// Reads what is there by now.
    void drain();

    Handler onOom;

private:
    void take(std::string_view record);

    UniqueFd kmsg_;
    EventHandle source_;
    OomParser parser_;
};

} // namespace pinfold
