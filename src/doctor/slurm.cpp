// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks whether Slurm is configured as docs/schedulers/slurm.md says.
#include "base/paths.hpp"
#include "doctor/checks.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace pinfold::doctor {
namespace {

constexpr const char* kPlugin = "pinfold_spank.so";
constexpr const char* kEpilogue = "slurm-epilogue";

/// Returns the pattern of an "include PATTERN" line of slurm.conf(5) or plugstack.conf(5).
std::vector<std::filesystem::path> included(const std::string& line) {
    const auto fields = words(line);
    return fields.size() == 2 && lowerCase(fields[0]) == "include" ? std::vector<std::filesystem::path>{fields[1]}
                                                                   : std::vector<std::filesystem::path>{};
}

/// Returns the VALUE of each line NAME=VALUE whose NAME equals the argument `name`. settings() ignores the case of letters in
/// names.
std::vector<std::string> settings(const Files& files, const std::filesystem::path& file, const std::string& name) {
    std::vector<std::string> values;
    for (const auto& [from, line] : files.linesWithIncludes(file, included)) {
        const auto equals = line.text.find('=');
        if (equals == std::string::npos || words(lowerCase(line.text.substr(0, equals))) != std::vector{name})
            continue;
        const auto given = words(line.text.substr(equals + 1));
        values.push_back(given.empty() ? "" : given.front());
    }
    return values;
}

/// If the file sets `name` several times, returns the last value, because Slurm uses the last value.
std::string setting(const Files& files, const std::filesystem::path& file, const std::string& name) {
    const auto values = settings(files, file, name);
    return values.empty() ? "" : values.back();
}

struct PluginLine {
    std::string rule; ///< the first word of the line, "required" or "optional"
    std::string path;
    std::string where;
};

/// Reads a line such as "required PATH ARGUMENTS".
std::optional<PluginLine> ourPlugin(const Files& files, const std::filesystem::path& file) {
    for (const auto& line : files.linesWithIncludes(file, included)) {
        const auto fields = words(line.line.text);
        if (fields.size() > 1 && std::filesystem::path(fields[1]).filename() == kPlugin)
            return PluginLine{fields[0], fields[1], line.where()};
    }
    return std::nullopt;
}

void checkPlugin(const Host& host, const Files& files, const std::filesystem::path& conf, Findings& findings) {
    const char* id = "slurm.plugin";
    const auto set = setting(files, conf, "plugstackconfig");
    const auto plugstack = set.empty() ? conf.parent_path() / "plugstack.conf" : std::filesystem::path(set);
    const auto line = fmt::format("required {}/{}", host.libexec, kPlugin);
    const auto remedy = fmt::format("{} in {}, then run `systemctl restart slurmd`", line, plugstack.string());
    const auto plugin = ourPlugin(files, plugstack);
    if (!plugin)
        findings.warn(id, "Slurm's jobs do not use pinfold: pinfold's plugin is not in plugstack.conf", remedy, plugstack);
    else if (!files.exists(plugin->path) && plugin->rule == "required")
        findings.fail(id, fmt::format("there is no {}: srun, sbatch and slurmd refuse to run anything", plugin->path),
                      "build pinfold with Slurm's headers (libslurm-dev), or remove the line", plugin->where);
    else if (plugin->rule != "required")
        findings.warn(id, fmt::format("with '{}', Slurm runs jobs without a scope if it cannot load the plugin", plugin->rule),
                      line, plugin->where);
    else
        findings.ok(id, "Slurm's jobs use pinfold", plugin->where);
}

/// Returns true if the file is pinfold's epilogue, or a script that calls pinfold's epilogue.
bool isEpilogue(const Host& host, const Files& files, const std::filesystem::path& file) {
    return files.exists(file) && (files.resolve(file) == files.resolve(host.libexec + "/" + kEpilogue) ||
                                  files.text(file).find(kEpilogue) != std::string::npos);
}

/// Checks that slurmd runs pinfold's epilogue. The value of Epilog is the path of a program, or a pattern for the paths of
/// several programs. If slurm.conf has several Epilog= lines, Slurm 24.05 and later uses all of them.
void checkEpilogue(const Host& host, const Files& files, const std::filesystem::path& conf, Findings& findings) {
    const char* id = "slurm.epilogue";
    const auto ours = host.libexec + "/" + kEpilogue;
    const auto remedy = fmt::format("Epilog={} in {}, then run `scontrol reconfigure`", ours, conf.string());
    const auto set = settings(files, conf, "epilog");
    const auto runsOurs = [&](const std::string& pattern) {
        const auto programs = files.matching(pattern);
        return std::any_of(programs.begin(), programs.end(), [&](const auto& file) { return isEpilogue(host, files, file); });
    };
    if (set.empty())
        findings.warn(id, "Slurm does not tell pinfold when a job is over: there is no Epilog", remedy, conf.string());
    else if (std::any_of(set.begin(), set.end(), runsOurs))
        findings.ok(id, "Slurm tells pinfold when a job is over", conf.string());
    else if (files.matching(set.back()).empty())
        findings.fail(id,
                      fmt::format("Slurm drains the node at the end of a job: Epilog is {}, which does not exist", set.back()),
                      remedy, conf.string());
    else
        findings.warn(id, "Slurm does not tell pinfold when a job is over: Epilog is " + set.back(),
                      "let Epilog also run " + ours, conf.string());
}

/// Checks that the configuration has no GPUs in the section [gpus]. The Slurm plugin of pinfold does not reserve GPUs, because
/// Slurm itself gives GPUs to jobs. If the configuration has the section [gpus], each job can open only the GPUs that pinfold has
/// given to the job.
void checkGpus(const Host& host, Findings& findings) {
    const auto& loaded = host.config;
    if (loaded && !loaded->config.gpus.devices.empty())
        findings.warn("slurm.gpus", "[gpus] in pinfold.toml closes all GPUs to Slurm's jobs", "remove [gpus] from pinfold.toml",
                      kConfigDirectory);
}

} // namespace

void checkSlurm(const Host& host, const Files& files, Findings& findings) {
    if (!files.first({"/usr/sbin/slurmd", "/usr/local/sbin/slurmd", "/opt/slurm/sbin/slurmd"}))
        return;
    const auto conf =
        files.first({"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/usr/local/etc/slurm.conf",
                     "/opt/slurm/etc/slurm.conf", "/run/slurm/conf/slurm.conf", "/var/spool/slurmd/conf-cache/slurm.conf"});
    if (!conf) {
        findings.ok("slurm.plugin", "slurmd is installed, but not configured");
        return;
    }
    if (!files.read(*conf)) {
        findings.needsRoot("slurm.plugin", conf->string());
        return;
    }
    const auto tracking = setting(files, *conf, "proctracktype");
    if (tracking.empty() || lowerCase(tracking) == "proctrack/cgroup") {
        findings.ok("slurm.plugin",
                    "Slurm uses cgroups of its own for its jobs (proctrack/cgroup): pinfold leaves these jobs alone",
                    conf->string());
        return;
    }
    checkPlugin(host, files, *conf, findings);
    checkEpilogue(host, files, *conf, findings);
    checkGpus(host, findings);
}

} // namespace pinfold::doctor
