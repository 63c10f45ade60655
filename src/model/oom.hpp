// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pinfold {

/// Says why processes of a job were killed, for example because the whole node was out of memory.
enum class OomCause {
    OwnLimit,      ///< the job reached its own limit memory_max
    Node,          ///< the memory of the node or of batch.slice ran out, and the job was within its own limit
    Oomd,          ///< systemd-oomd decided to kill the job
    Administrator, ///< an administrator lowered a limit below the job's memory use, or told the kernel to kill a process (sysrq)
};

std::string_view toString(OomCause cause);
std::optional<OomCause> oomCauseFromString(std::string_view text);

/// Describes the first out-of-memory kill in the life of a job. Page cache is never the reason for an out-of-memory kill,
/// because the kernel reclaims the page cache before the kernel kills a process.
struct OomVerdict {
    OomCause cause = OomCause::OwnLimit;
    RealTime at{}; ///< the time of the kill

    // The members `victim`, `victimName` and `victimRss` come from the kernel's log, and are unset if pinfoldd cannot read the
    // log.
    std::optional<std::uint32_t> victim; ///< the process id of the killed process
    /// The name of the killed process as in /proc/PID/comm, made printable by printable().
    std::optional<std::string> victimName;
    std::optional<std::uint64_t> victimRss; ///< the memory of the killed process in bytes

    // The members `limit`, `anon`, `file` and `shmem` contain the figures at the time of the kill.
    std::optional<std::uint64_t> limit; ///< the limit memory_max in bytes; unset if the job did not have this limit
    std::optional<std::uint64_t> anon;  ///< the anonymous memory of the job in bytes
    std::optional<std::uint64_t> file;  ///< the page cache and shared memory of the job in bytes
    std::optional<std::uint64_t> shmem; ///< the shared memory and tmpfs of the job in bytes; `file` includes `shmem`

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
    f("oom_shmem", verdict.shmem);
}

/// Returns a line that says why the kill happened, which process was killed, and how much memory the job used.
std::string oomLine(const OomVerdict& verdict, std::optional<std::uint64_t> peak);
/// Returns the line with which pinfoldd explains an out-of-memory kill in the job's own output. oomNotice() adds the job, the
/// node and the time of the kill to the text of oomLine().
std::string oomNotice(const OomVerdict& verdict, std::optional<std::uint64_t> peak, const std::string& key,
                      const std::string& host);

} // namespace pinfold
