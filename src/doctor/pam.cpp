// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/word_list.hpp"
#include "doctor/checks.hpp"
#include "doctor/pam_stack.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace pinfold::doctor {
namespace {

constexpr const char* kOurs = "pam_pinfold.so";
constexpr const char* kLogind = "pam_systemd.so";
constexpr const char* kFile = "/etc/pam.d/sshd";
constexpr const char* kSshd = "/etc/ssh/sshd_config";

using Stack = std::vector<PamEntry>;

Stack::const_iterator find(const Stack& stack, const std::string& module) {
    return std::find_if(stack.begin(), stack.end(), [&module](const auto& entry) { return entry.module == module; });
}

bool has(const Stack& stack, const std::string& module) { return find(stack, module) != stack.end(); }

void checkPresence(bool account, bool session, bool mayFail, Findings& findings) {
    if (session && mayFail)
        findings.warn("pam.sshd", "pam_pinfold is optional: a login that cannot be put into its job continues outside of the job",
                      "write session required pam_pinfold.so in place of optional", kFile);
    else if (account && session)
        findings.ok("pam.sshd", "pam_pinfold admits users with a job, and puts their logins into the job", kFile);
    else if (account)
        findings.ok("pam.sshd", "pam_pinfold admits users with a job; their logins stay outside of the job", kFile);
    else if (session)
        findings.warn("pam.sshd", "pam_pinfold puts logins into jobs, but does not refuse users without a job",
                      "add account required pam_pinfold.so as the last account line of /etc/pam.d/sshd", kFile);
    else
        findings.ok("pam.sshd", "pam_pinfold is not used: logins by ssh stay outside of jobs", kFile);
}

/// Checks the order of pam_pinfold and pam_systemd. The module pam_systemd moves the process of a login into the scope of a
/// session. The module pam_pinfold moves the process of a login into the scope of a job. If PAM calls both pam_pinfold and
/// pam_systemd, the second of the two calls decides in which scope the process stays.
void checkOrder(const Stack& session, Findings& findings) {
    const auto ours = find(session, kOurs);
    if (ours == session.end())
        return;
    const auto after = std::find_if(ours, session.end(), [](const auto& entry) { return entry.module == kLogind; });
    if (after != session.end())
        findings.fail("pam.order", "pam_systemd runs after pam_pinfold, and takes each login out of its job again",
                      "move the line with pam_pinfold.so after " + after->where, ours->where);
    else
        findings.ok("pam.order", has(session, kLogind) ? "pam_pinfold comes after pam_systemd" : "pam_systemd does not interfere",
                    ours->where);
}

/// Warns if a `sufficient` module comes before pam_pinfold. If a `sufficient` module before pam_pinfold succeeds, the user can
/// log in without a job.
void checkBypass(const Stack& account, Findings& findings) {
    const auto ours = find(account, kOurs);
    if (ours == account.end())
        return;
    const auto before = std::find_if(account.begin(), ours, [](const auto& entry) {
        return !entry.apart && (entry.control == "sufficient" || entry.control.find("success=done") != std::string::npos);
    });
    if (before != ours)
        findings.fail("pam.bypass", before->module + " admits users before pam_pinfold is asked",
                      "move the line with pam_pinfold.so before " + before->where, before->where);
    else
        findings.ok("pam.bypass", "nothing admits users before pam_pinfold is asked", ours->where);
}

std::vector<std::string> sshdWords(std::string line) {
    std::replace(line.begin(), line.end(), '=', ' ');
    auto fields = words(line);
    if (fields.empty()) // a line that contains only equal signs has no fields
        return {""};
    fields.front() = lowerCase(fields.front());
    return fields;
}

/// Returns the first value of UsePAM, because sshd uses the first value of a setting. sshd replaces each Include line by the
/// lines of the included file (sshd_config(5)).
std::string usePam(const Files& files) {
    const auto included = [](const std::string& line) {
        const auto fields = sshdWords(line);
        return fields.front() == "include" ? std::vector<std::filesystem::path>(fields.begin() + 1, fields.end())
                                           : std::vector<std::filesystem::path>();
    };
    for (const auto& line : files.linesWithIncludes(kSshd, included)) {
        const auto fields = sshdWords(line.line.text);
        if (fields.front() == "usepam" && fields.size() > 1)
            return lowerCase(fields[1]);
    }
    return "no";
}

void checkUsePam(const Files& files, Findings& findings) {
    if (files.exists(kSshd) && !files.read(kSshd))
        findings.needsRoot("pam.use-pam", kSshd);
    else if (usePam(files) != "yes")
        findings.fail("pam.use-pam", "sshd does not use PAM, so pam_pinfold has no effect",
                      "write UsePAM yes in /etc/ssh/sshd_config, then run `systemctl reload ssh` (sshd on EL)", kSshd);
    else
        findings.ok("pam.use-pam", "sshd uses PAM", kSshd);
}

/// Checks that no user manager (`systemd --user`) becomes part of a job. A user manager in a job would end together with the job,
/// and the early end would break logind's bookkeeping.
void checkUserManager(const Files& files, Findings& findings) {
    const auto session = pamStack(files, "systemd-user", "session");
    if (const auto ours = find(session, kOurs); ours != session.end())
        findings.fail("pam.user-manager", "pam_pinfold puts users' managers (systemd --user) into jobs",
                      "remove the line with pam_pinfold.so from this file; the line belongs in /etc/pam.d/sshd", ours->where);
    else
        findings.ok("pam.user-manager", "users' managers stay out of jobs");
}

bool installed(const Files& files, const std::string& module) {
    std::vector<std::filesystem::path> directories{"/lib/security", "/lib64/security", "/usr/lib/security",
                                                   "/usr/lib64/security"};
    for (const auto& name : files.list("/usr/lib"))
        // On Debian, the modules are in a subdirectory of /usr/lib such as x86_64-linux-gnu.
        directories.push_back(std::filesystem::path("/usr/lib") / name / "security");
    return std::any_of(directories.begin(), directories.end(),
                       [&](const auto& directory) { return files.exists(directory / module); });
}

/// Looks for PAM services that open a logind session. If a process has no session, logind creates a session for the process, even
/// if the process belongs to a job. When logind creates a session for a process, logind moves the process from the job's scope
/// into the session's scope. The check ignores the services of cron(8) and at(1), because these two programs start their
/// processes outside of jobs.
void checkMovers(const Files& files, Findings& findings) {
    std::vector<std::string> movers;
    if (installed(files, kLogind))
        for (const char* service : {"su", "su-l", "sudo", "sudo-i", "runuser", "runuser-l", "slurm", "gridengine-exec"})
            if (has(pamStack(files, service, "session"), kLogind))
                movers.emplace_back(service);
    if (movers.empty())
        findings.ok("pam.movers", "no PAM service that jobs use takes processes out of their jobs");
    else
        findings.warn("pam.movers",
                      fmt::format("processes that a job or a prologue starts with {} leave the job (pam_systemd)",
                                  enumerated(movers, "and")),
                      "use setpriv --reuid=USER --regid=GROUP --init-groups COMMAND instead", "/etc/pam.d");
}

} // namespace

void checkPam(const Host&, const Files& files, Findings& findings) {
    if (files.exists(kSshd) || files.exists(kFile)) {
        const auto account = pamStack(files, "sshd", "account");
        const auto session = pamStack(files, "sshd", "session");
        const auto line = find(session, kOurs);
        checkPresence(has(account, kOurs), has(session, kOurs), line != session.end() && line->control == "optional", findings);
        checkOrder(session, findings);
        checkBypass(account, findings);
        if (has(account, kOurs) || has(session, kOurs))
            checkUsePam(files, findings);
    }
    checkUserManager(files, findings);
    checkMovers(files, findings);
}

} // namespace pinfold::doctor
