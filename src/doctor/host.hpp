// SPDX-License-Identifier: LGPL-2.1-or-later
// What is known of the node. Files are read below `root` by the checks; all that had to be asked for is in here as plain values.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace pinfold::doctor {

/// Of an object on the bus. Lists have blanks between, truth is "yes" or "no".
using Properties = std::map<std::string, std::string>;

/// "" for what is not among them.
std::string property(const Properties& properties, const std::string& name);

/// Of a file system, for users other than root.
struct Space {
    std::uint64_t free = 0;   ///< bytes
    std::uint64_t inodes = 0; ///< of all; 0: it does not count them
    std::uint64_t freeInodes = 0;
};

/// `qconf -sconf`.
struct GridEngineAnswer {
    std::string global;
    std::string local; ///< of this host; empty: it has none
};

struct Host {
    std::filesystem::path root = "/";
    bool privileged = true;       ///< root asks
    std::string version;          ///< of this command
    std::string libexec;          ///< where pinfold's hooks are, below `root`: /usr/libexec/pinfold
    std::string kernelRelease;    ///< as uname -r
    std::uint64_t now = 0;        ///< CLOCK_REALTIME, microseconds
    std::optional<bool> clockSet; ///< by NTP or the like (adjtimex(2)); unset: this container may not ask

    std::optional<std::string> busError;     ///< why there is no talking to the system bus
    std::optional<Properties> systemd;       ///< org.freedesktop.systemd1.Manager; unset: no answer
    std::map<std::string, Properties> units; ///< by the name asked for
    std::optional<Properties> logind;        ///< org.freedesktop.login1.Manager; unset: it is not there
    bool polkit = false;                     ///< there, or would be started

    std::optional<Result<std::string>> daemonVersion; ///< what pinfoldd answered; unset: it does not run, and was not asked
    std::optional<std::uint64_t> newestReceipt;       ///< end of the job, CLOCK_REALTIME, microseconds

    std::map<std::string, Space> space;                 ///< by directory
    std::optional<Result<GridEngineAnswer>> gridEngine; ///< unset: there is no qconf

    /// Empty where PID 1 was not asked, or did not answer.
    const Properties& unit(const std::string& name) const;
};

} // namespace pinfold::doctor
