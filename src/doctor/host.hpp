// SPDX-License-Identifier: LGPL-2.1-or-later
// What is known about the node. The checks read files below `root`. All answers of other programs are in here as plain values.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace pinfold::doctor {

/// The properties of an object on the bus. Lists have blanks between their entries, truth values are "yes" or "no".
using Properties = std::map<std::string, std::string>;

/// The property of this name; "" if there is none.
std::string property(const Properties& properties, const std::string& name);

/// The space of a file system for users other than root.
struct Space {
    std::uint64_t free = 0;   ///< bytes
    std::uint64_t inodes = 0; ///< the number of all inodes; 0: the file system does not count them
    std::uint64_t freeInodes = 0;
};

/// The answers of `qconf -sconf`.
struct GridEngineAnswer {
    std::string global;
    std::string local; ///< the configuration of this host; empty: it has none
};

struct Host {
    std::filesystem::path root = "/";
    bool privileged = true;       ///< the doctor runs as root
    std::string version;          ///< the version of this command
    std::string libexec;          ///< the directory of pinfold's hooks, below `root`: /usr/libexec/pinfold
    std::string kernelRelease;    ///< as uname -r
    std::uint64_t now = 0;        ///< CLOCK_REALTIME, microseconds
    std::optional<bool> clockSet; ///< the clock is set by NTP or the like (adjtimex(2)); unset: this container may not ask

    std::optional<std::string> busError;     ///< why the system bus cannot be used
    std::optional<Properties> systemd;       ///< org.freedesktop.systemd1.Manager; unset: no answer
    std::map<std::string, Properties> units; ///< by the name that was asked for
    std::optional<Properties> logind;        ///< org.freedesktop.login1.Manager; unset: logind does not exist
    bool polkit = false;                     ///< polkit runs, or would be started

    std::optional<Result<std::string>> daemonVersion; ///< pinfoldd's answer; unset: pinfoldd does not run, and was not asked
    std::optional<std::uint64_t> newestReceipt;       ///< the end of its job, CLOCK_REALTIME, microseconds

    std::map<std::string, Space> space;                 ///< by directory
    std::optional<Result<GridEngineAnswer>> gridEngine; ///< unset: there is no qconf

    /// The properties of a unit. Empty: PID 1 was not asked, or did not answer.
    const Properties& unit(const std::string& name) const;
};

} // namespace pinfold::doctor
