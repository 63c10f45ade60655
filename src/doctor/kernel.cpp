// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/parse.hpp"
#include "doctor/capabilities.hpp"
#include "doctor/checks.hpp"

#include <fmt/core.h>

namespace pinfold::doctor {
namespace {

constexpr std::uint64_t kFewPids = 32768;

void checkPressure(const Files& files, Findings& findings) {
    if (files.text("/proc/pressure/memory").empty())
        findings.warn("kernel.pressure",
                      "the kernel does not measure pressure: receipts and `pinfold why` do not show how long jobs waited",
                      "add psi=1 to the kernel's command line, and reboot", "/proc/pressure");
    else
        findings.ok("kernel.pressure", "measured");
}

void checkPidMax(const Files& files, Findings& findings) {
    const std::string file = "/proc/sys/kernel/pid_max";
    const auto value = words(files.text(file));
    const auto most = parseUnsigned(value.empty() ? "" : value[0]);
    if (most && *most <= kFewPids)
        findings.warn("kernel.pid-max", fmt::format("all jobs and the system together have only {} process ids", value[0]),
                      "write kernel.pid_max = 4194304 to /etc/sysctl.d/pid-max.conf, then run `sysctl --system`", file);
    else if (most)
        findings.ok("kernel.pid-max", value[0] + " process ids");
}

/// Returns the mount option of /proc that hides processes of other users, such as "hidepid=2" or "hidepid=invisible". If every
/// user can see all processes in /proc, the result is empty.
std::string hiding(const Files& files) {
    std::string found; // the option "hidepid=" of the last mount at /proc; the last mount hides the earlier mounts at /proc
    for (const auto& line : meaningfulLines(files.text("/proc/mounts"))) {
        const auto fields = words(line.text);
        if (fields.size() < 4 || fields[1] != "/proc")
            continue;
        const auto at = fields[3].find("hidepid=");
        found = at == std::string::npos ? "" : fields[3].substr(at, fields[3].find(',', at) - at);
    }
    return found == "hidepid=0" || found == "hidepid=off" ? "" : found;
}

void checkHiding(const Host& host, const Files& files, Findings& findings) {
    const auto hidden = hiding(files);
    const auto mayLook = mayBeKept(host.unit("pinfoldd.service"), kSysPtrace);
    if (hidden.empty())
        findings.ok("kernel.hidepid", "/proc shows all processes");
    else if (mayLook)
        findings.ok("kernel.hidepid", fmt::format("/proc is mounted with {}, but pinfoldd sees all processes", hidden));
    else
        findings.fail(
            "kernel.hidepid",
            fmt::format("/proc is mounted with {}, and pinfoldd lacks CAP_SYS_PTRACE: pinfoldd cannot see the processes of users",
                        hidden),
            "remove ~CAP_SYS_PTRACE from CapabilityBoundingSet= (`systemctl edit pinfoldd`)", "/proc");
}

} // namespace

void checkKernel(const Host& host, const Files& files, Findings& findings) {
    checkPressure(files, findings);
    checkPidMax(files, findings);
    checkHiding(host, files, findings);
}

} // namespace pinfold::doctor
