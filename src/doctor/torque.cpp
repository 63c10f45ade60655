// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks whether Torque is configured as docs/schedulers/torque.md says.
#include "doctor/checks.hpp"

#include <fmt/core.h>

#include <sys/stat.h>

namespace pinfold::doctor {
namespace {

struct Script {
    const char* name;
    const char* program;
};
constexpr Script kScripts[] = {
    {"prologue", "torque-prologue"},
    {"prologue.parallel", "torque-prologue"},
    {"epilogue", "torque-epilogue"},
    {"epilogue.parallel", "torque-epilogue"},
};

/// Returns the reason why pbs_mom would refuse to run the file. If pbs_mom would run the file, the result is "". Like pbs_mom,
/// the doctor follows symbolic links.
std::string refused(const Files::Status& status) {
    if (status.owner != 0)
        return "the file does not belong to root";
    if (!S_ISREG(status.mode))
        return "it is not a regular file";
    if ((status.mode & (S_IRUSR | S_IXUSR)) != (S_IRUSR | S_IXUSR))
        return "root may not read and execute it";
    if ((status.mode & (S_IWGRP | S_IWOTH)) != 0)
        return "users other than root may write to it";
    return "";
}

void checkScript(const Host& host, const Files& files, const std::filesystem::path& directory, const Script& script, bool hooked,
                 Findings& findings) {
    const auto id = std::string("torque.") + script.name;
    const auto file = directory / script.name;
    const auto program = host.libexec + "/" + script.program;
    const auto link = fmt::format("ln -sf {} {}", program, file.string());
    const auto status = files.status(file);
    if (!status) {
        // If the job starter is configured but no prologue opens the jobs, Torque's jobs do not run.
        const auto state = hooked ? FindingState::Fail : FindingState::Warn;
        findings.add(state, id, "the file does not exist, or is a link to nothing", link, file);
        return;
    }
    if (const auto why = refused(*status); !why.empty()) {
        findings.fail(id, "pbs_mom will not run this file: " + why, fmt::format("chown root {0} && chmod 755 {0}", file.string()),
                      file);
        return;
    }
    const auto real = files.resolve(file);
    const auto text = files.read(file);
    if (real == files.resolve(program))
        findings.ok(id, "pinfold's", file);
    else if (!text)
        findings.needsRoot(id, file);
    else if (text->find(script.program) != std::string::npos)
        findings.ok(id, "the site's script is installed, and calls pinfold's", file);
    else
        findings.add(hooked ? FindingState::Fail : FindingState::Warn, id,
                     std::string("the site's script is installed, but does not call ") + script.program,
                     program + " \"$@\" must be called in the script, as in docs/schedulers/torque.md", file);
}

/// Returns the path after `word` in a line of mom_priv/config.
std::string programOf(std::string_view word, const std::string& config) {
    std::string path;
    for (const auto& line : meaningfulLines(config)) {
        const auto fields = words(line.text);
        if (fields.size() > 1 && fields[0] == word)
            path = fields[1];
    }
    return path;
}

/// Checks the job starter of Torque. Returns true if Torque gives its jobs to pinfold.
bool checkStarter(const Host& host, const Files& files, const std::filesystem::path& config, Findings& findings) {
    const char* id = "torque.job-starter";
    const auto ours = host.libexec + "/torque-job-starter";
    const auto remedy = fmt::format("$job_starter {} in {}, and restart pbs_mom", ours, config.string());
    if (files.exists(config) && !files.read(config)) {
        findings.needsRoot(id, config);
        return false;
    }
    const auto path = programOf("$job_starter", files.text(config));
    const auto status = files.status(path);
    const bool hooked = path.find("torque-job-starter") != std::string::npos;
    if (path.empty())
        findings.warn(id, "Torque's jobs do not use pinfold: there is no $job_starter", remedy, config);
    else if (!hooked)
        findings.warn(id, "Torque's jobs use pinfold only if $job_starter calls pinfold: $job_starter is " + path, remedy,
                      config);
    else if (!status || (status->mode & S_IXOTH) == 0)
        findings.fail(id, "no job of Torque can start: users cannot execute " + path, remedy, config);
    else
        findings.ok(id, "Torque's jobs use pinfold", config);
    return hooked;
}

void checkNodeCheck(const Host& host, const Files& files, const std::filesystem::path& config, Findings& findings) {
    const char* id = "torque.node-check";
    const auto ours = host.libexec + "/torque-node-check";
    if (programOf("$node_check_script", files.text(config)).empty())
        findings.warn(id,
                      "Torque sends the same job again and again to a node that takes no jobs: there is no $node_check_script",
                      fmt::format("$node_check_script {} and $node_check_interval 1,jobstart,jobend in {}, and restart pbs_mom",
                                  ours, config.string()),
                      config);
    else
        findings.ok(id, "Torque learns when the node takes no jobs, if $node_check_script calls torque-node-check", config);
}

/// Warns about scripts that pbs_mom runs as the job's user in pbs_mom's own cgroup. pbs_mom does not use the job starter for
/// prologue.user and similar scripts.
void checkUserScripts(const Files& files, const std::filesystem::path& directory, Findings& findings) {
    for (const char* name :
         {"prologue.user", "prologue.user.parallel", "epilogue.user", "epilogue.user.parallel", "epilogue.precancel"})
        if (files.exists(directory / name))
            findings.warn(std::string("torque.") + name,
                          "this script runs as the job's user, but outside of the job: it has none of the job's limits, and "
                          "is missing from the job's receipt",
                          "do the work of this script in the prologue or the epilogue, as in docs/schedulers/torque.md",
                          directory / name);
}

} // namespace

void checkTorque(const Host& host, const Files& files, Findings& findings) {
    const auto directory = files.first({"/var/spool/torque/mom_priv", "/var/lib/torque/mom_priv", "/var/torque/mom_priv"});
    if (!directory)
        return;
    const bool hooked = checkStarter(host, files, *directory / "config", findings);
    for (const auto& script : kScripts)
        checkScript(host, files, *directory, script, hooked, findings);
    if (hooked)
        checkNodeCheck(host, files, *directory / "config", findings);
    checkUserScripts(files, *directory, findings);
}

} // namespace pinfold::doctor
