// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks whether Grid Engine is configured as docs/schedulers/grid-engine.md says.
#include "doctor/checks.hpp"

#include <fmt/core.h>

#include <sys/stat.h>

namespace pinfold::doctor {
namespace {

constexpr const char* kExecd[] = {"/usr/sbin/sge_execd", "/usr/lib/gridengine/sge_execd"};

bool installed(const Host& host, const Files& files) {
    for (const char* execd : kExecd)
        if (files.exists(execd))
            return true;
    return host.gridEngine.has_value();
}

/// Returns the value of the setting `name` from lines of the form "name value". A backslash at the end of a line joins the line
/// with the next line.
std::string setting(const std::string& configuration, const std::string& name) {
    for (const auto& line : meaningfulLines(configuration)) {
        const auto fields = words(line.text);
        if (fields.front() == name)
            return line.text.substr(name.size());
    }
    return "";
}

/// Returns the setting from the configuration of this host. If the host's configuration does not contain the setting, returns the
/// setting from the global configuration of the cell.
std::string setting(const GridEngineAnswer& answer, const std::string& name) {
    const auto local = setting(answer.local, name);
    return local.empty() ? setting(answer.global, name) : local;
}

void checkShepherd(const Host& host, const Files& files, const GridEngineAnswer& answer, Findings& findings) {
    const char* id = "grid-engine.shepherd";
    const auto ours = host.libexec + "/grid-engine-shepherd";
    const auto fields = words(setting(answer, "shepherd_cmd"));
    const auto command = fields.empty() ? std::string("none") : fields.front();
    const auto remedy = "qconf -mconf: shepherd_cmd " + ours;
    const auto status = files.status(command);
    if (lowerCase(command) == "none")
        findings.warn(id, "Grid Engine's jobs do not use pinfold: shepherd_cmd is none", remedy, "qconf -sconf");
    else if (command != ours && std::filesystem::path(command).filename() != "grid-engine-shepherd")
        findings.warn(id, "Grid Engine's jobs use pinfold only if shepherd_cmd calls pinfold: shepherd_cmd is " + command, remedy,
                      "qconf -sconf");
    else if (!status || (status->mode & S_IXUSR) == 0)
        findings.fail(id, "no job of Grid Engine can start: shepherd_cmd names a program that does not exist, " + command, remedy,
                      "qconf -sconf");
    else
        findings.ok(id, "Grid Engine's jobs use pinfold", "qconf -sconf");
}

/// Checks whether Grid Engine uses cgroups of its own. If Grid Engine uses cgroups of its own, Grid Engine moves each job out of
/// pinfold's cgroup when the job starts.
void checkCgroups(const GridEngineAnswer& answer, Findings& findings) {
    auto parameters = lowerCase(setting(answer, "execd_params"));
    for (char& c : parameters)
        if (c == ',')
            c = ' ';
    for (const auto& parameter : words(parameters))
        if (parameter.starts_with("use_cgroups=") && parameter != "use_cgroups=false" && parameter != "use_cgroups=0") {
            findings.fail("grid-engine.cgroups", fmt::format("Grid Engine uses cgroups of its own ({})", parameter),
                          "qconf -mconf: remove USE_CGROUPS from execd_params", "qconf -sconf");
            return;
        }
    findings.ok("grid-engine.cgroups", "Grid Engine uses no cgroups of its own", "qconf -sconf");
}

} // namespace

void checkGridEngine(const Host& host, const Files& files, Findings& findings) {
    if (!installed(host, files))
        return;
    if (!host.gridEngine)
        findings.warn(
            "grid-engine.shepherd", "not known: this host has Grid Engine's execution daemon, but not the program qconf",
            fmt::format("run qconf -sconf where qconf is installed: shepherd_cmd must be {}/grid-engine-shepherd", host.libexec));
    else if (!*host.gridEngine)
        findings.warn("grid-engine.shepherd", "not known: " + host.gridEngine->error().message,
                      fmt::format("run `qconf -sconf` when the queue master runs: shepherd_cmd must be {}/grid-engine-shepherd",
                                  host.libexec));
    else {
        checkShepherd(host, files, **host.gridEngine, findings);
        checkCgroups(**host.gridEngine, findings);
    }
}

} // namespace pinfold::doctor
