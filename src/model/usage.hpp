// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include "base/clock.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pinfold {

/// Holds the amount of data that a job has read from a disk and written to the disk.
struct DeviceIo {
    std::string device;        ///< major and minor number, such as "8:0"
    std::uint64_t read = 0;    ///< bytes read
    std::uint64_t written = 0; ///< bytes written
    std::uint64_t reads = 0;   ///< read operations
    std::uint64_t writes = 0;  ///< write operations

    bool operator==(const DeviceIo&) const = default;
};

/// Holds the resource usage of a job, from the files of its slice's cgroup (cgroup-v2.rst, psi.rst). A member is unset if the
/// kernel or the node does not count this figure.
struct Usage {
    std::optional<Microseconds> cpuUser;
    std::optional<Microseconds> cpuSystem;
    std::optional<Microseconds> cpuThrottled; ///< the time for which cpu_quota held the job back

    std::optional<std::uint64_t> memoryCurrent; ///< bytes; live jobs only
    std::optional<std::uint64_t> memoryAnon;    ///< bytes of memoryCurrent that do not belong to files; live jobs only
    std::optional<std::uint64_t> memoryFile;    ///< bytes of page cache and tmpfs; for an ended job, what the job left in memory
    std::optional<std::uint64_t> memoryPeak;    ///< bytes, with page cache
    /// The part of memoryPeak that did not belong to files, in bytes. The value is unset if pinfoldd did not read the figures
    /// at the time of the peak.
    std::optional<std::uint64_t> memoryPeakAnon;
    /// The part of memoryPeak that was page cache and tmpfs, in bytes. The value is unset if pinfoldd did not read the figures
    /// at the time of the peak.
    std::optional<std::uint64_t> memoryPeakFile;
    std::optional<std::uint64_t> swapCurrent; ///< bytes; live jobs only
    std::optional<std::uint64_t> swapPeak;    ///< bytes (needs Linux 6.5)

    std::optional<std::uint64_t> tasksCurrent; ///< live jobs only
    std::optional<std::uint64_t> tasksPeak;

    std::optional<std::uint64_t> ioRead;    ///< bytes from all devices
    std::optional<std::uint64_t> ioWritten; ///< bytes to all devices
    std::optional<std::uint64_t> ioReads;   ///< operations on all devices
    std::optional<std::uint64_t> ioWrites;  ///< operations on all devices
    std::vector<DeviceIo> ioDevices;

    // The time for which processes of the job had to wait, because there was not enough CPU, memory or I/O. The
    // figures with "Full" in the name count the time in which all processes waited. The other figures count the time in which
    // at least one process waited.
    std::optional<Microseconds> cpuPressure;
    std::optional<Microseconds> memoryPressure;
    std::optional<Microseconds> memoryPressureFull;
    std::optional<Microseconds> ioPressure;
    std::optional<Microseconds> ioPressureFull;

    std::optional<std::uint64_t> memoryHighEvents; ///< how often the kernel slowed the job down at memory_high
    std::optional<std::uint64_t> memoryMaxEvents;  ///< how often the job was at memory_max and the kernel reclaimed memory
    std::optional<std::uint64_t> oomEvents; ///< how often the kernel could reclaim nothing; one incident may count several times
    std::optional<std::uint64_t> oomKills;  ///< killed processes
    std::optional<std::uint64_t> oomGroupKills; ///< how often the kernel killed a whole task

    bool operator==(const Usage&) const = default;
};

/// Calls f(name, member) for each number.
template <class U, class F> void forEachUsage(U& usage, F&& f) {
    f("cpu_user", usage.cpuUser);
    f("cpu_system", usage.cpuSystem);
    f("cpu_throttled", usage.cpuThrottled);
    f("memory_current", usage.memoryCurrent);
    f("memory_anon", usage.memoryAnon);
    f("memory_file", usage.memoryFile);
    f("memory_peak", usage.memoryPeak);
    f("memory_peak_anon", usage.memoryPeakAnon);
    f("memory_peak_file", usage.memoryPeakFile);
    f("swap_current", usage.swapCurrent);
    f("swap_peak", usage.swapPeak);
    f("tasks_current", usage.tasksCurrent);
    f("tasks_peak", usage.tasksPeak);
    f("io_read", usage.ioRead);
    f("io_written", usage.ioWritten);
    f("io_reads", usage.ioReads);
    f("io_writes", usage.ioWrites);
    f("cpu_pressure", usage.cpuPressure);
    f("memory_pressure", usage.memoryPressure);
    f("memory_pressure_full", usage.memoryPressureFull);
    f("io_pressure", usage.ioPressure);
    f("io_pressure_full", usage.ioPressureFull);
    f("memory_high_events", usage.memoryHighEvents);
    f("memory_max_events", usage.memoryMaxEvents);
    f("oom_events", usage.oomEvents);
    f("oom_kills", usage.oomKills);
    f("oom_group_kills", usage.oomGroupKills);
}

/// Removes the figures that have a meaning only for a live job, such as memoryCurrent.
inline void dropCurrent(Usage& usage) {
    usage.memoryCurrent.reset();
    usage.memoryAnon.reset();
    usage.swapCurrent.reset();
    usage.tasksCurrent.reset();
}

/// Returns true if the figure `name` exists only for live jobs, so that receipts never contain it.
inline bool isLiveOnly(const char* name) {
    const std::string_view text(name);
    return text.ends_with("_current") || text == "memory_anon";
}

} // namespace pinfold
