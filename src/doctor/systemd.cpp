// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "base/word_list.hpp"
#include "doctor/checks.hpp"
#include "model/limit_table.hpp"

#include <fmt/core.h>

namespace pinfold::doctor {
namespace {

constexpr unsigned kOldest = 252;

/// Returns the first number of a version, such as 252 for "252.39-1~deb12u1".
unsigned majorVersion(const std::string& version) {
    const auto number = parseUnsigned(version.substr(0, version.find_first_not_of("0123456789")));
    return number && *number < 100'000 ? static_cast<unsigned>(*number) : 0;
}

void checkVersion(const Properties& manager, Findings& findings) {
    const auto version = property(manager, "Version");
    const auto number = majorVersion(version);
    if (number < kOldest) {
        findings.fail("systemd.version", fmt::format("systemd '{}' is too old", version),
                      "install systemd 252 or later (Debian 12, EL 9 or later)");
        return;
    }
    std::vector<std::string> lost;
    for (const auto& row : limitTable())
        if (row.since > number)
            lost.push_back(fmt::format("{} ({})", row.name, row.since));
    findings.ok("systemd.version",
                fmt::format("systemd {}{}", version,
                            lost.empty() ? "" : "; limits that need a later version: " + enumerated(lost, "and")));
}

void checkBatchSlice(const Host& host, Findings& findings) {
    const auto& slice = host.unit("batch.slice");
    const auto load = property(slice, "LoadState");
    if (load == "masked")
        findings.fail("systemd.batch-slice", "batch.slice is masked: no job can start", "systemctl unmask batch.slice",
                      "batch.slice");
    else if (load != "loaded")
        findings.fail("systemd.batch-slice", fmt::format("batch.slice is not installed ({})", load),
                      "install pinfold's units, then `systemctl daemon-reload`", "batch.slice");
    // If only files below system.control have changed, the check reports no problem. The files below system.control contain the
    // settings that pinfoldd changes at run time. After systemd itself has written a file below system.control, NeedDaemonReload
    // is sometimes "yes".
    else if (property(slice, "NeedDaemonReload") == "yes" &&
             property(slice, "DropInPaths").find("/system.control/") == std::string::npos)
        findings.warn("systemd.batch-slice", "files of batch.slice have changed since systemd read them",
                      "systemctl daemon-reload", "batch.slice");
    else
        findings.ok("systemd.batch-slice", "installed");
}

/// Warns if systemd-oomd runs and is able to kill jobs. systemd-oomd acts when the node's swap is almost full, or when the memory
/// pressure of a watched slice is high. systemd-oomd can kill a job although the job is within the job's limits.
void checkOomd(const Host& host, Findings& findings) {
    const auto& oomd = host.unit("systemd-oomd.service");
    if (property(oomd, "ActiveState") != "active") {
        findings.ok("systemd.oomd", "systemd-oomd does not run");
        return;
    }
    std::vector<std::string> watched;
    for (const char* slice : {"-.slice", "batch.slice"})
        for (const char* setting : {"ManagedOOMSwap", "ManagedOOMMemoryPressure"})
            if (property(host.unit(slice), setting) == "kill")
                watched.push_back(fmt::format("{}=kill of {}", setting, slice));
    if (watched.empty())
        findings.ok("systemd.oomd", "systemd-oomd runs, and leaves jobs alone");
    else
        findings.warn("systemd.oomd", "systemd-oomd may kill jobs that are within their limits: " + enumerated(watched, "and"),
                      "systemctl mask --now systemd-oomd.service systemd-oomd.socket", "systemd-oomd.service");
}

} // namespace

void checkSystemd(const Host& host, const Files& files, Findings& findings) {
    if (!files.exists("/run/systemd/system")) { // sd_booted(3) looks for /run/systemd/system
        findings.fail("systemd.version", "systemd does not run as PID 1 here", "boot with systemd as init",
                      "/run/systemd/system");
        return;
    }
    if (!host.systemd) {
        if (!host.busError)
            findings.fail("systemd.version", "PID 1 did not answer within 2 s: no job can start or end",
                          "`journalctl -b _PID=1 -n 50`; is /run full?", "org.freedesktop.systemd1");
        return;
    }
    checkVersion(*host.systemd, findings);
    checkBatchSlice(host, findings);
    checkOomd(host, findings);
}

} // namespace pinfold::doctor
