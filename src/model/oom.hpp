// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Says why processes of a job were killed: for example, the job was out of memory, or the whole node was.
enum class OomCause {
    OwnLimit,      ///< the job reached its own memory_max
    Node,          ///< the memory of the node or of batch.slice ran out; the job was within its own limit
    Oomd,          ///< systemd-oomd decided to kill
    Administrator, ///< an administrator lowered a limit below what the job was using, or told the kernel to kill (sysrq)
};

std::string_view toString(OomCause cause);
std::optional<OomCause> oomCauseFromString(std::string_view text);

/// Describes the first out-of-memory kill in the life of a job. Page cache is never the reason for an out-of-memory kill,
/// because the kernel reclaims page cache before it kills.
struct OomVerdict {
    OomCause cause = OomCause::OwnLimit;
    RealTime at{}; ///< when the kill happened

    // The values of victim, victimName and victimRss are from the kernel's log. If pinfoldd cannot read the kernel's log, these
    // members are unset.
    std::optional<std::uint32_t> victim;    ///< process id
    std::optional<std::string> victimName;  ///< as in /proc/PID/comm, made printable by printable()
    std::optional<std::uint64_t> victimRss; ///< memory of the victim in bytes

    // The members limit, anon and file have the figures at the time of the kill:
    std::optional<std::uint64_t> limit; ///< memory_max in bytes; unset if the job had no such limit
    std::optional<std::uint64_t> anon;  ///< bytes of anonymous memory
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

/// Returns one line for the job's own output: "Cgroup memory limit exceeded: Killed process 4711 (python3), …".
std::string oomLine(const OomVerdict& verdict, std::optional<std::uint64_t> peak);

} // namespace pinfold
