// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes the text of a file /proc/PID/stat.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace pinfold::test {

struct StatLine {
    pid_t pid = 7;
    std::string name = "x";
    char state = 'S';
    pid_t parent = 1;
    unsigned terminal = 0;
    unsigned flags = 0x400000;      ///< an ordinary process
    std::uint64_t started = 1000;   ///< the start time in clock ticks since the boot
    unsigned long pendingSignals{}; ///< the bit of signal 1 is the lowest
};

/// Returns a line with the fields 1 to 31 of /proc/PID/stat. Field 31 has the pending signals. The process has used 7 clock ticks
/// in user space and 5 clock ticks in the kernel, and has 250 resident pages.
inline std::string statLine(const StatLine& process) {
    return std::to_string(process.pid) + " (" + process.name + ") " + process.state + " " + std::to_string(process.parent) +
           " 1 1 " + std::to_string(process.terminal) + " -1 " + std::to_string(process.flags) + " 0 0 0 0 7 5 0 0 20 0 1 0 " +
           std::to_string(process.started) + " 1000000 250 0 0 0 0 0 0 " + std::to_string(process.pendingSignals) + "\n";
}

} // namespace pinfold::test
