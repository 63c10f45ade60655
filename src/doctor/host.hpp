// SPDX-License-Identifier: LGPL-2.1-or-later
// Holds the facts about the node that the checks need. The checks read files below the directory `root`. Before the checks begin,
// the doctor asks other programs for facts, and stores the answers in a Host. The checks themselves run no programs.
#pragma once

#include "base/clock.hpp"
#include "base/result.hpp"
#include "config/config.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace pinfold::doctor {

/// Holds the properties of an object on the bus. If a property is a list, its value is a text with blanks between the entries.
/// The value of a boolean property is "yes" or "no".
using Properties = std::map<std::string, std::string>;

/// Returns the value of the property `name`, or "" if the property does not exist.
std::string property(const Properties& properties, const std::string& name);

/// Holds the free space and the inodes of a file system. The free amounts do not include the part that only root can use.
struct Space {
    std::uint64_t free = 0;   ///< the free space in bytes
    std::uint64_t inodes = 0; ///< the total number of inodes; 0 if the file system does not count inodes
    std::uint64_t freeInodes = 0;
};

/// Holds the answers of `qconf -sconf`.
struct GridEngineAnswer {
    std::string global;
    std::string local; ///< the configuration of this host; empty if the host has no configuration of its own
};

struct Host {
    std::filesystem::path root = "/";
    Result<LoadedConfig> config = LoadedConfig{}; ///< the configuration of the node, or the first error in the configuration
    bool privileged = true;                       ///< true if the doctor runs as root
    std::string version;                          ///< the version of the program pinfold itself
    std::string libexec;                          ///< the directory of pinfold's hooks below `root`, /usr/libexec/pinfold
    std::string kernelRelease;                    ///< the release that `uname -r` prints
    RealTime now{};
    /// If clockSet is true, a service such as NTP sets the clock (adjtimex(2)). clockSet is unset if the doctor runs in a
    /// container that does not allow adjtimex(2).
    std::optional<bool> clockSet;

    std::optional<std::string> busError; ///< the reason why pinfold cannot use the system bus
    std::optional<Properties> systemd;   ///< the properties of org.freedesktop.systemd1.Manager; unset if systemd did not answer
    std::map<std::string, Properties> units; ///< the properties of units, by the name of the unit
    std::optional<Properties> logind;        ///< the properties of org.freedesktop.login1.Manager; unset if logind does not exist
    bool polkit = false;                     ///< true if polkit runs, or if the bus can start polkit

    /// The version of pinfoldd, or the error of the call that asked for the version. daemonVersion is unset if pinfoldd does not
    /// run.
    std::optional<Result<std::string>> daemonVersion;
    std::optional<RealTime> newestReceipt; ///< the time at which the job of the newest receipt ended

    /// The doctor asks pinfold-archive a short question, and stores the answer or the error in archiveAnswer. A successful answer
    /// means that the archive can be reached. archiveAnswer is unset if archive.ask is not true.
    std::optional<Result<void>> archiveAnswer;
    /// The time at which the certificate of this host expires, or the error of `pinfold-archive --print-expiry`.
    /// certificateExpires is unset if archive.ask is not true, or if this host needs no certificate.
    std::optional<Result<RealTime>> certificateExpires;

    std::map<std::string, Space> space;                 ///< the free space of file systems, by directory
    std::optional<Result<GridEngineAnswer>> gridEngine; ///< the answer of qconf; unset if the program qconf does not exist

    /// Returns the properties of a unit. The result is empty if pinfold has not asked PID 1 about the unit, or if PID 1 has not
    /// answered.
    const Properties& unit(const std::string& name) const;
};

} // namespace pinfold::doctor
