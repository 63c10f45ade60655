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
    std::string device;        ///< the device's major and minor number, such as "8:0"
    std::uint64_t read = 0;    ///< the number of bytes read
    std::uint64_t written = 0; ///< the number of bytes written
    std::uint64_t reads = 0;   ///< the number of read operations
    std::uint64_t writes = 0;  ///< the number of write operations

    bool operator==(const DeviceIo&) const = default;
};

/// Holds the resource usage of a job. pinfoldd reads the figures in the cgroup of the job's slice (cgroup-v2.rst, psi.rst). A
/// member of Usage is unset if the kernel does not count the figure on this node.
struct Usage {
    std::optional<Microseconds> cpuUser;
    std::optional<Microseconds> cpuSystem;
    std::optional<Microseconds> cpuThrottled; ///< the time in which the kernel paused the job, because of cpu_quota

    std::optional<std::uint64_t> memoryCurrent; ///< the memory of the job in bytes; only for live jobs
    /// The anonymous memory of the job in bytes. memoryCurrent includes memoryAnon. memoryAnon is set only for live jobs.
    std::optional<std::uint64_t> memoryAnon;
    /// The shared memory and tmpfs of the job in bytes. memoryFile includes memoryShmem. memoryShmem is set only for live jobs.
    std::optional<std::uint64_t> memoryShmem;
    /// The page cache and tmpfs of the job, in bytes. For an ended job, memoryFile is the part of the page cache and tmpfs that
    /// is still in memory.
    std::optional<std::uint64_t> memoryFile;
    /// The memory that the job needed: the highest sum of anonymous and shared memory that pinfoldd has seen, in bytes. Page
    /// cache does not count as needed memory. The memory need is unset if pinfoldd did not look at the job while the job ran.
    std::optional<std::uint64_t> memoryNeed;
    std::optional<std::uint64_t> memoryPeak; ///< the highest memory use of the job in bytes, page cache included
    /// The anonymous memory of the job at the time of the memory peak, in bytes. memoryPeakAnon is unset if pinfoldd did not read
    /// the figures at the time of the memory peak.
    std::optional<std::uint64_t> memoryPeakAnon;
    /// The page cache and tmpfs of the job at the time of the memory peak, in bytes. memoryPeakFile is unset if pinfoldd did not
    /// read the figures at the time of the memory peak.
    std::optional<std::uint64_t> memoryPeakFile;
    /// The shared memory and tmpfs of the job at the time of the memory peak. memoryPeakFile includes memoryPeakShmem.
    /// memoryPeakShmem is unset if pinfoldd did not read the figures at the time of the memory peak.
    std::optional<std::uint64_t> memoryPeakShmem;
    std::optional<std::uint64_t> swapCurrent; ///< the swap of the job in bytes; only for live jobs
    std::optional<std::uint64_t> swapPeak;    ///< the highest swap use of the job in bytes (needs Linux 6.5)

    std::optional<std::uint64_t> tasksCurrent; ///< the number of processes and threads; only for live jobs
    std::optional<std::uint64_t> tasksPeak;

    std::optional<std::uint64_t> ioRead;    ///< the number of bytes read from all devices
    std::optional<std::uint64_t> ioWritten; ///< the number of bytes written to all devices
    std::optional<std::uint64_t> ioReads;   ///< the number of read operations on all devices
    std::optional<std::uint64_t> ioWrites;  ///< the number of write operations on all devices
    std::vector<DeviceIo> ioDevices;

    // The pressure figures say how long processes of the job had to wait for CPU time, memory or I/O. A figure with "Full" in
    // its name counts the time in which all processes had to wait at the same time. A figure without "Full" in its name counts
    // the time in which at least one process had to wait.
    std::optional<Microseconds> cpuPressure;
    std::optional<Microseconds> memoryPressure;
    std::optional<Microseconds> memoryPressureFull;
    std::optional<Microseconds> ioPressure;
    std::optional<Microseconds> ioPressureFull;

    std::optional<std::uint64_t> memoryHighEvents; ///< how often the kernel slowed the job down at memory_high
    /// How often the kernel had to reclaim memory because the job reached memory_max.
    std::optional<std::uint64_t> memoryMaxEvents;
    /// How often the job reached a memory limit while the kernel could not reclaim any of the job's memory. If memory runs out
    /// once, the kernel can count several events.
    std::optional<std::uint64_t> oomEvents;
    std::optional<std::uint64_t> oomKills;      ///< the number of processes that the kernel killed because memory ran out
    std::optional<std::uint64_t> oomGroupKills; ///< how often the kernel killed all processes of a task together

    bool operator==(const Usage&) const = default;
};

/// Calls f(name, member) for each number in `usage`.
template <class U, class F> void forEachUsage(U& usage, F&& f) {
    f("cpu_user", usage.cpuUser);
    f("cpu_system", usage.cpuSystem);
    f("cpu_throttled", usage.cpuThrottled);
    f("memory_current", usage.memoryCurrent);
    f("memory_anon", usage.memoryAnon);
    f("memory_shmem", usage.memoryShmem);
    f("memory_file", usage.memoryFile);
    f("memory_need", usage.memoryNeed);
    f("memory_peak", usage.memoryPeak);
    f("memory_peak_anon", usage.memoryPeakAnon);
    f("memory_peak_file", usage.memoryPeakFile);
    f("memory_peak_shmem", usage.memoryPeakShmem);
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
    usage.memoryShmem.reset();
    usage.swapCurrent.reset();
    usage.tasksCurrent.reset();
}

/// Returns true if live jobs have the figure `name`, but receipts never contain the figure.
inline bool isLiveOnly(const char* name) {
    const std::string_view text(name);
    return text.ends_with("_current") || text == "memory_anon" || text == "memory_shmem";
}

} // namespace pinfold
