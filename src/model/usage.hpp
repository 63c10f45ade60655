// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace pinfold {

/// What a job used, as its slice's cgroup counts it (cgroup-v2.rst). Unset: this kernel or node doesn't count it.
struct Usage {
    std::optional<std::uint64_t> cpuUser;       ///< microseconds
    std::optional<std::uint64_t> cpuSystem;     ///< microseconds
    std::optional<std::uint64_t> memoryCurrent; ///< bytes; live jobs only
    std::optional<std::uint64_t> memoryPeak;    ///< bytes
    std::optional<std::uint64_t> tasksCurrent;  ///< live jobs only
    std::optional<std::uint64_t> tasksPeak;
    std::optional<std::uint64_t> ioRead;    ///< bytes, all devices
    std::optional<std::uint64_t> ioWritten; ///< bytes, all devices
    std::optional<std::uint64_t> oomKills;  ///< processes

    bool operator==(const Usage&) const = default;
};

template <class U, class F> void forEachUsage(U& usage, F&& f) {
    f("cpu_user", usage.cpuUser);
    f("cpu_system", usage.cpuSystem);
    f("memory_current", usage.memoryCurrent);
    f("memory_peak", usage.memoryPeak);
    f("tasks_current", usage.tasksCurrent);
    f("tasks_peak", usage.tasksPeak);
    f("io_read", usage.ioRead);
    f("io_written", usage.ioWritten);
    f("oom_kills", usage.oomKills);
}

} // namespace pinfold
