// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Whose memory ran out when processes of a job were killed.
enum class OomCause {
    OwnLimit,      ///< the job's own memory_max
    Node,          ///< the node's memory, or batch.slice's share of it; the job was within its own limit
    Oomd,          ///< systemd-oomd's decision
    Administrator, ///< an administrator lowered a limit below what was in use, or told the kernel to kill (sysrq)
};

std::string_view toString(OomCause cause);
std::optional<OomCause> oomCauseFromString(std::string_view text);

/// The first kill in a job's life because memory ran out. Page cache is never the reason, since the kernel reclaims it.
struct OomVerdict {
    OomCause cause = OomCause::OwnLimit;
    std::uint64_t at = 0; ///< CLOCK_REALTIME, microseconds

    // From the kernel's log; unset if the log cannot be read:
    std::optional<std::uint32_t> victim;    ///< process id
    std::optional<std::string> victimName;  ///< as in /proc/PID/comm, printable()
    std::optional<std::uint64_t> victimRss; ///< bytes

    // The figures at the time of the kill:
    std::optional<std::uint64_t> limit; ///< memory_max, bytes; unset: none
    std::optional<std::uint64_t> anon;  ///< bytes
    std::optional<std::uint64_t> file;  ///< bytes of page cache

    bool operator==(const OomVerdict&) const = default;
};

/// Calls f(name, member) for each optional member.
template <class V, class F> void forEachOomDetail(V& verdict, F&& f) {
    f("oom_victim", verdict.victim);
    f("oom_victim_name", verdict.victimName);
    f("oom_victim_rss", verdict.victimRss);
    f("oom_limit", verdict.limit);
    f("oom_anon", verdict.anon);
    f("oom_file", verdict.file);
}

/// One line for the job's own output: "Cgroup memory limit exceeded: Killed process 4711 (python3), …".
std::string oomLine(const OomVerdict& verdict, std::optional<std::uint64_t> peak);

} // namespace pinfold
