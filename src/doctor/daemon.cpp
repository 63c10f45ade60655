// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/bus_names.hpp"
#include "base/paths.hpp"
#include "base/word_list.hpp"
#include "doctor/capabilities.hpp"
#include "doctor/checks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace pinfold::doctor {
namespace {

constexpr const char* kService = "pinfoldd.service";
constexpr const char* kSocketUnit = "pinfoldd.socket";
constexpr const char* kLog = "journalctl -b -u pinfoldd -n 50";

/// Checks whether systemd has loaded the file of the unit.
bool checkLoaded(const Properties& unit, const std::string& name, const std::string& id, Findings& findings) {
    const auto state = property(unit, "LoadState");
    if (state == "loaded")
        return true;
    if (state == "masked")
        findings.fail(id, name + " is masked", fmt::format("systemctl unmask {0} && systemctl start {0}", name), name);
    else
        findings.fail(id, fmt::format("{} cannot be loaded: {}", name, state),
                      "install pinfold's units, then run `systemctl daemon-reload`", name);
    return false;
}

void checkUnit(const Properties& unit, Findings& findings) {
    const auto file = property(unit, "FragmentPath");
    const auto dropIns = property(unit, "DropInPaths");
    if (property(unit, "NeedDaemonReload") == "yes")
        findings.warn("pinfoldd.unit", "files of the unit have changed since systemd read them",
                      "systemctl daemon-reload && systemctl restart pinfoldd; jobs survive the restart", file);
    else if (file.starts_with("/etc/") || file.starts_with("/run/"))
        findings.warn("pinfoldd.unit",
                      "this file replaces pinfold's unit, so changes of a newer pinfold to the unit have no effect",
                      "systemctl revert pinfoldd.service, then make your changes with `systemctl edit pinfoldd`", file);
    else
        findings.ok("pinfoldd.unit", dropIns.empty() ? "the unit is as installed" : "the unit is as installed, with drop-ins",
                    dropIns.empty() ? file : dropIns);
}

/// Checks whether a drop-in of the unit takes away a right that pinfoldd needs, such as a capability.
void checkSandbox(const Properties& unit, Findings& findings) {
    const auto where = property(unit, "DropInPaths");
    if (property(unit, "ProtectControlGroups") == "yes") {
        findings.fail("pinfoldd.sandbox", "ProtectControlGroups=yes: pinfoldd cannot kill or freeze a job",
                      "write ProtectControlGroups=no below [Service] (`systemctl edit pinfoldd`)", where);
        return;
    }
    std::vector<std::string> lost;
    for (const auto& [capability, loss] :
         {std::pair(kKill, "CAP_KILL (pinfoldd cannot end jobs with a shepherd in the right order)"),
          {kSysNice, "CAP_SYS_NICE (Grid Engine's wrappers stay in the batch system's cgroup)"},
          {kSyslog, "CAP_SYSLOG (receipts do not name the killed process when memory ran out)"}})
        if (!mayBeKept(unit, capability))
            lost.emplace_back(loss);
    if (!lost.empty())
        findings.warn("pinfoldd.sandbox", "pinfoldd lacks " + enumerated(lost, "and"),
                      "remove them from CapabilityBoundingSet=~ (`systemctl edit pinfoldd`)", where);
    else
        findings.ok("pinfoldd.sandbox",
                    mayBeKept(unit, kSysPtrace)
                        ? "pinfoldd has all rights that it needs"
                        : "pinfoldd has all rights that it needs, but cannot show where hanging processes wait (CAP_SYS_PTRACE)");
}

bool jobsLive(const Files& files) {
    const auto names = files.list("/sys/fs/cgroup/batch.slice");
    return std::any_of(names.begin(), names.end(), [](const auto& name) { return name.starts_with("batch-"); });
}

bool checkRunning(const Host& host, const Files& files, Findings& findings) {
    const char* id = "pinfoldd.running";
    const auto& unit = host.unit(kService);
    const auto state = property(unit, "ActiveState");
    if (state == "active") {
        findings.ok(id, "running");
        return true;
    }
    const auto result = property(unit, "Result");
    if (state == "failed" || result != "success")
        findings.fail(id, fmt::format("pinfoldd does not stay up ({}, {})", state, result),
                      fmt::format("`pinfold check-config`, `{}`, then `systemctl restart pinfoldd`", kLog), kService);
    else if (jobsLive(files))
        findings.fail(id, "pinfoldd does not run, but jobs do: nothing ends these jobs", "systemctl start pinfoldd", kService);
    else if (property(host.unit(kSocketUnit), "ActiveState") == "active")
        findings.warn(id, fmt::format("pinfoldd does not run ({}); the next job starts it", state), "systemctl start pinfoldd",
                      kService);
    else
        findings.fail(id, fmt::format("pinfoldd does not run ({}), and no job can start it", state),
                      "systemctl enable --now pinfoldd", kService);
    return false;
}

void checkAnswer(const Host& host, Findings& findings) {
    if (!host.daemonVersion)
        return;
    const auto& answer = *host.daemonVersion;
    if (!answer)
        findings.fail("pinfoldd.answers",
                      fmt::format("{}: {}",
                                  answer.error().code == ErrorCode::TimedOut ? "pinfoldd does not answer within 2 s"
                                                                             : "pinfoldd cannot be called",
                                  answer.error().message),
                      fmt::format("`{}`, then `systemctl restart pinfoldd`; jobs survive the restart", kLog), kBusName);
    else if (*answer != host.version)
        findings.warn("pinfoldd.answers",
                      fmt::format("pinfoldd has version {}, but this command has version {}", *answer, host.version),
                      "systemctl restart pinfoldd; jobs survive the restart", kBusName);
    else
        findings.ok("pinfoldd.answers", fmt::format("version {}, the same as this command", *answer));
}

void checkSocket(const Host& host, const Files& files, Findings& findings) {
    const char* id = "pinfoldd.socket";
    const auto& unit = host.unit(kSocketUnit);
    if (!checkLoaded(unit, kSocketUnit, id, findings))
        return;
    const auto enabled = property(unit, "UnitFileState");
    if (property(unit, "ActiveState") != "active" || !files.exists(kWrapperSocket))
        findings.fail(id, fmt::format("nothing listens on {}: pinfold-run cannot start a job", kWrapperSocket),
                      "systemctl enable pinfoldd.socket && systemctl restart pinfoldd.socket pinfoldd", kSocketUnit);
    else if (enabled == "disabled")
        findings.warn(id, "the socket listens now, but will not listen after the next boot", "systemctl enable pinfoldd.socket",
                      kSocketUnit);
    else
        findings.ok(id, "the socket listens", kWrapperSocket);
}

void checkConfig(const Host& host, Findings& findings) {
    const auto& loaded = host.config;
    const char* test = "pinfold check-config; after that `systemctl reload-or-restart pinfoldd`";
    if (!loaded)
        findings.fail("pinfoldd.config", loaded.error().message, test, kConfigDirectory);
    else if (!loaded->warnings.empty())
        findings.warn("pinfoldd.config", enumerated(loaded->warnings, "and"), test, kConfigDirectory);
    else
        findings.ok("pinfoldd.config",
                    loaded->files.empty() ? "there is no configuration file: the defaults apply" : "the configuration is valid");
}

void checkGroup(const Files& files, Findings& findings) {
    // systemd-sysusers creates the group pinfold-admin in /etc/group, so checkGroup() looks in this file. checkGroup() does not
    // find the group pinfold-admin if the group exists only in a different user database, such as LDAP.
    for (const auto& line : meaningfulLines(files.text("/etc/group")))
        if (line.text.starts_with("pinfold-admin:")) {
            findings.ok("pinfoldd.group", "the group pinfold-admin exists");
            return;
        }
    findings.warn("pinfoldd.group", "there is no group pinfold-admin: only root can manage the jobs of other users",
                  "systemd-sysusers", "/etc/group");
}

} // namespace

void checkDaemon(const Host& host, const Files& files, Findings& findings) {
    const auto& unit = host.unit(kService);
    if (host.systemd && checkLoaded(unit, kService, "pinfoldd.unit", findings)) {
        checkUnit(unit, findings);
        checkSandbox(unit, findings);
        if (checkRunning(host, files, findings))
            checkAnswer(host, findings);
        checkSocket(host, files, findings);
    }
    checkConfig(host, findings);
    checkGroup(files, findings);
}

} // namespace pinfold::doctor
