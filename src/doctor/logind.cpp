// SPDX-License-Identifier: LGPL-2.1-or-later
#include "base/word_list.hpp"
#include "doctor/checks.hpp"

#include <fmt/core.h>

#include <map>

namespace pinfold::doctor {
namespace {

struct Setting {
    bool on;
    std::string where;
};

/// Returns the files of logind's configuration. In the result, files with a lower priority come before files with a higher
/// priority. The main file logind.conf comes first, and then the drop-ins, sorted by name. If several directories contain a file
/// of the same name, the result contains only the file in the directory with the highest priority.
std::vector<std::filesystem::path> logindFiles(const Files& files) {
    const std::vector<std::filesystem::path> directories{"/usr/lib/systemd", "/usr/local/lib/systemd", "/run/systemd",
                                                         "/etc/systemd"};
    std::vector<std::filesystem::path> found;
    std::map<std::string, std::filesystem::path> dropIns;
    for (const auto& directory : directories) {
        if (files.exists(directory / "logind.conf"))
            found = {directory / "logind.conf"};
        for (const auto& file : files.matching(directory / "logind.conf.d/*.conf"))
            dropIns[file.filename()] = file;
    }
    for (const auto& [name, file] : dropIns)
        found.push_back(file);
    return found;
}

/// Returns the value that a setting of logind has in logind's configuration files. If somebody has changed the files since the
/// start of logind, logind possibly uses the setting's earlier value.
Setting configured(const Files& files, const std::string& name, bool otherwise) {
    Setting setting{otherwise, "/etc/systemd/logind.conf"};
    for (const auto& file : logindFiles(files))
        for (const auto& line : meaningfulLines(files.text(file)))
            if (line.text.starts_with(name + "=")) {
                const auto value = lowerCase(line.text.substr(name.size() + 1));
                setting = {value == "yes" || value == "true" || value == "on" || value == "1" || value == "y" || value == "t",
                           file.string()};
            }
    return setting;
}

void checkRemoveIpc(const Host& host, const Files& files, Findings& findings) {
    const char* id = "logind.remove-ipc";
    const auto setting = configured(files, "RemoveIPC", true);
    const bool inForce = host.logind ? property(*host.logind, "RemoveIPC") != "no" : setting.on;
    if (setting.on)
        findings.warn(
            id,
            "RemoveIPC=yes: when a user's last login here ends, logind removes the shared memory, semaphores and message "
            "queues of all of the user's jobs",
            "write RemoveIPC=no below [Login] in /etc/systemd/logind.conf.d/pinfold.conf, then run `systemctl restart "
            "systemd-logind`",
            setting.where);
    else if (inForce)
        findings.warn(id, "RemoveIPC=no is configured, but the running logind still uses yes", "systemctl restart systemd-logind",
                      setting.where);
    else
        findings.ok(id, "jobs keep their shared memory when their user logs out", setting.where);
}

void checkLoginLeftovers(const Host& host, const Files& files, Findings& findings) {
    const auto setting = configured(files, "KillUserProcesses", false);
    const bool on = host.logind ? property(*host.logind, "KillUserProcesses") == "yes" : setting.on;
    findings.ok("logind.kill-user-processes",
                on ? "logind kills the processes that a login leaves behind; jobs are not part of logins"
                   : "when a login outside of jobs ends, logind does not kill its processes (KillUserProcesses=no)");
}

/// Checks for lingering users. The service manager of a lingering user runs all the time. The processes of a lingering user's
/// service manager do not end together with a job.
void checkLinger(const Files& files, Findings& findings) {
    const std::string directory = "/var/lib/systemd/linger";
    std::vector<std::string> users;
    for (const auto& name : files.list(directory))
        if (name != "root")
            users.push_back(name);
    if (users.empty())
        findings.ok("logind.linger", "no user except root has lingering enabled");
    else
        findings.warn(
            "logind.linger",
            fmt::format("processes of {} may run on this node without a job or a login (linger)", enumerated(users, "and")),
            fmt::format("loginctl disable-linger {}{}", users.front(),
                        users.size() > 1 ? ", and the same for each other user" : ""),
            directory);
}

} // namespace

void checkLogind(const Host& host, const Files& files, Findings& findings) {
    checkRemoveIpc(host, files, findings);
    checkLoginLeftovers(host, files, findings);
    checkLinger(files, findings);
}

} // namespace pinfold::doctor
